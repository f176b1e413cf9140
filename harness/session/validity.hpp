// Whether the measurement of a group may be believed (docs/methodology.md, "Disturbed
// measurements"). Each detector looks at the finished result alone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/session/ceilings.hpp"
#include "harness/session/interference.hpp"

namespace amasia {

/// A baseline that differs from itself by more than this share, with its whole interval.
inline constexpr double control_limit = 0.02;
/// A baseline whose last third of rounds differs from the first by more than this share, and whose
/// order in time is no chance: |z| of its rank correlation with the round.
inline constexpr double trend_limit = 0.05, trend_z = 4.4;
/// A GPU within this many degrees of the temperature at which it slows down.
inline constexpr int near_slowdown_c = 2;

/// What is known of the run around a group.
struct Circumstances {
  std::map<std::string, std::string> state_at_start{};  // Provenance::device_state
  std::vector<CeilingDoubt> ceilings{};                 // doubtful_ceilings()
  std::optional<QuietProbe> quiet{};                    // of the groups so far
  ProbeCount probes{};                                  // likewise
};

/// What cannot be in what an app says of its work; "" where nothing contradicts itself. Compulsory
/// traffic reads and writes no byte twice, so that neither is more than the memory the app needs.
std::string contradiction_in(const Work& work, std::int64_t device_bytes);

/// A cold row faster than its floor, beyond the interval of its median.
std::optional<Invalidity> faster_than_floor(const GroupResult& group);
/// The A/A control, or the times of a baseline over the rounds.
std::optional<Invalidity> drift_in(const GroupResult& group);
/// Limits, clocks and temperature at the group's end beside those at the run's start.
std::optional<Invalidity> changed_state(const std::map<std::string, std::string>& start,
                                        const std::map<std::string, std::string>& end);

/// All of the above and interference. Empty for a group that was verified alone. The probes of the
/// group itself are among those that tell what is quiet.
std::vector<Invalidity> invalidities_of(const GroupResult& group, const Circumstances& around);

/// Adds the probes of a group to what is known of the run.
void learn(Circumstances& around, const GroupResult& group);

/// Sets what makes the group invalid, and with it that nothing is claimed from it.
void mark(GroupResult& group, std::vector<Invalidity> invalid);

/// Whether measuring the group again could help: a ceiling stays what it is.
bool worth_repeating(const std::vector<Invalidity>& invalid);

}  // namespace amasia
