// What a comparison says, and what may be said of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// Of the candidate, as its interval alone has it.
SpeedVerdict verdict_on(const RatioInterval& speedup);

/// The verdict after the A/A control, which is among `comparisons`: within the noise when the ratio
/// is no larger than what the baseline of that role, or the row, differs from itself.
SpeedClaim claim_of(const std::vector<Comparison>& comparisons, const Comparison& comparison);

/// Where nothing is claimed and the interval holds 1 closely, the share by which the two differ at
/// most: a tie. Nothing for a wider interval, and for one of too few rounds.
std::optional<double> most_difference(const Comparison& comparison);
inline constexpr double most_of_a_tie = 0.02;

/// "drift: baseline took 1.2 times as long ...; let the GPU cool down ..."
std::string to_string(const Invalidity& invalidity);

/// Why a microbenchmark is not valid ("not valid: drift: ..."), then its warnings.
std::vector<std::string> reservations(const MicrobenchmarkResult& result);

/// The claims of a group's comparisons; of an invalid group, that there is none.
void set_claims(GroupResult& group);

}  // namespace amasia
