// Intervals of values in the order of their rounds, by the rule that a group is judged with.
#pragma once

#include <optional>
#include <vector>

#include "harness/statistics/statistics.hpp"
#include "harness/words.hpp"

namespace amasia {

/// By this rule groups are measured, and files that were judged by an older one are judged again.
inline constexpr IntervalRule newest_rule = IntervalRule::effective;

/// A sample shows no stronger dependence than that its rounds are worth so many independent ones.
inline constexpr double least_effective = 3;

/// The median of positive values in the order of their rounds. Rounds that resemble the ones
/// before:
/// exact: They count as independent; so in a group without a rule.
/// widened: The ranks of the ends move apart by the root of variance_inflation(). Where they run
/// out, the ends are the extremes and `coverage` is less than asked for.
/// effective: As widened, with estimated_inflation(). Where no ranks are left, for at least
/// `least_dependent` values, Student's t of the n logarithms with mean m and standard deviation s.
///
/// Then the ends are m +- t(confidence, n - 1) * s / sqrt(max(n / estimated_inflation(),
/// least_effective)), at least from the least value to the largest. `coverage` is the confidence.
/// Throws as median_interval().
MedianInterval median_by(std::optional<IntervalRule> rule, const std::vector<double>& values,
                         double confidence);

/// The same of reference[i] / candidate[i]. Throws as paired_ratio().
RatioInterval ratio_by(std::optional<IntervalRule> rule, const std::vector<double>& reference,
                       const std::vector<double>& candidate, double confidence);

}  // namespace amasia
