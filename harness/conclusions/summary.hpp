// What follows from the samples of a result: computed when it was measured, and again when a file
// is read.
#pragma once

#include <optional>

#include "harness/results/result.hpp"

namespace amasia {

/// Sets all that follows from the samples, the work and the floor of a group, and removes it where
/// there is nothing for it to follow from: medians with their intervals, rates, shares of the
/// floor, comparisons. `confidence`: joint, of all comparisons; of each median on its own.
void recompute(GroupResult& group, double confidence);

/// Judges a group that was read, whatever rule of intervals it was written by, as it would be
/// judged now: intervals, verdicts and claims.
void judge_anew(GroupResult& group, double confidence);

/// Sets the medians that follow from the samples of each point.
void recompute(MicrobenchmarkResult& result, double confidence);

/// Floor / median, nothing when either is not known.
std::optional<double> share_of_floor(const std::optional<Floor>& floor, const Row& row);

}  // namespace amasia
