// Order statistics with exact, distribution-free intervals (docs/methodology.md, "A comparison").
#pragma once

#include <optional>
#include <vector>

#include "harness/words.hpp"

namespace amasia {

/// How microseconds and megahertz are recorded: finer than clocks tell, and short to write.
double in_tenths(double value);

/// Median of a sample with the sign-test interval: the order statistics x(k), x(n+1-k) with the
/// largest k whose coverage 1 - 2 P(Binomial(n, 1/2) < k) is at least `confidence`. When n is too
/// small for that, low and high are the extremes and `coverage` says what they really cover.
struct MedianInterval {
  double median = 0, low = 0, high = 0;
  double coverage = 0;  // achieved, >= the confidence asked for unless n is too small
  int n = 0;
  double minimum = 0, maximum = 0;
};

/// `inflation`: of the variance of the median because values depend on each other
/// (estimated_inflation()). The ends move away from the middle by its root, in ranks; beyond the
/// extremes `coverage` is that of the ranks which the stretch would bring there. Throws
/// std::invalid_argument for an empty sample, a confidence outside (0, 1) or an inflation below 1.
MedianInterval median_interval(std::vector<double> sample, double confidence, double inflation = 1);

/// Exact: median and interval of exp(log-ratio). resolved: the interval excludes 1.
struct RatioInterval {
  double ratio = 1, low = 1, high = 1;
  double coverage = 0;
  int n = 0;
  bool resolved = false;
};

/// Half the width of an interval as a share of its middle.
double half_width(const MedianInterval& interval);
double half_width(const RatioInterval& interval);

/// reference[i] / candidate[i], pairs of the same round. `confidence` is per comparison, corrected
/// already (see corrected_confidence); `inflation` as above. Throws std::invalid_argument when
/// sizes differ, are 0, or a time is not positive and finite.
RatioInterval paired_ratio(const std::vector<double>& reference,
                           const std::vector<double>& candidate, double confidence,
                           double inflation = 1);

/// over[i] / under[i], of as many as both have.
std::vector<double> quotients(const std::vector<double>& over, const std::vector<double>& under);

/// Bonferroni: the per-comparison confidence that makes `comparisons` joint claims hold together.
double corrected_confidence(double confidence, int comparisons);

// Ranks of a series: whether it rises or falls, whether its values depend on each other, and how
// rare a count is.

struct Trend {
  /// Spearman's rank correlation with the place in the series, -1 to 1; equal values share the mean
  /// of their ranks.
  double correlation = 0;
  /// correlation * sqrt(n - 1): standard normal where order is chance alone, for n of ten and more.
  double z = 0;
  /// Median of the last third over median of the first, minus 1.
  double shift = 0;
};

/// All zero for fewer than six values, or where all are equal. Values are positive.
Trend trend_of(const std::vector<double>& series);

/// P(Binomial(n, p) >= k), exactly but for rounding. 1 for k <= 0.
double binomial_upper_tail(int n, int k, double p);

/// The value that a share of the sample lies at or below: an order statistic. Throws
/// std::invalid_argument for an empty sample.
double quantile_of(std::vector<double> sample, double share);

/// Correlation of the ranks of the values with those of the values before them, 1 at most. Ranks,
/// because a single slow sample must not decide. 0 for fewer than three values, or for equal ones.
double serial_correlation(const std::vector<double>& values);

/// What that does not exceed with the probability 1 - `level` where `n` values are in an order that
/// means nothing: its mean is then -1 / n and its standard deviation 1 / sqrt(n). Throws
/// std::invalid_argument for a level outside (0, 0.5) or n < 1.
double serial_correlation_by_chance(int n, double level);

/// How many times as large the variance of a median of these values is as it would be if each were
/// independent of the one before: (1 + r) / (1 - r) of a series whose values keep a share r of the
/// last one's distance from the middle, r being serial_correlation() without its bias. 1 for fewer
/// than `least_dependent` values, and where r is not positive.
double estimated_inflation(const std::vector<double>& values);

inline constexpr int least_dependent = 8;  // of fewer a correlation says next to nothing

// Intervals of values in the order of their rounds, by the rule that a group is judged with.

/// By this rule groups are measured, and files that were judged by an older one are judged again.
inline constexpr IntervalRule newest_rule = IntervalRule::effective;

/// The median of positive values in the order of their rounds. Rounds that resemble the ones
/// before:
/// exact: They count as independent; so in a group without a rule.
/// widened: The ranks of the ends move apart by the root of estimated_inflation(), unless chance
/// explains that. Where they run out, the ends are the extremes and `coverage` is less than asked.
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
