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

/// The median of positive values in the order of their rounds. The rule says what becomes of rounds
/// that resemble the ones before:
///
///   exact      nothing: they count as independent; so does a group without a rule
///   widened    the ranks of the ends move apart by the root of variance_inflation(); where they
///              run out, the ends are the extremes and `coverage` is less than asked for
///   effective  as widened, as long as ranks are left when they move by estimated_inflation().
///   Where
///              none are, and of at least `least_dependent` values, Student's t has the interval:
///              of the n logarithms with the mean m and the standard deviation s it is
///                m +- t(confidence, n - 1) * s / sqrt(max(n / estimated_inflation(),
///                                                         least_effective))
///              and at least from the least value to the largest. `coverage` is the confidence.
///
/// Throws as median_interval().
MedianInterval median_by(std::optional<IntervalRule> rule, const std::vector<double>& values,
                         double confidence);

/// The same of reference[i] / candidate[i]. Throws as paired_ratio().
RatioInterval ratio_by(std::optional<IntervalRule> rule, const std::vector<double>& reference,
                       const std::vector<double>& candidate, double confidence);

}  // namespace amasia
