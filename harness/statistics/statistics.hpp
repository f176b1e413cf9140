// Order statistics with exact, distribution-free intervals (docs/methodology.md, "A comparison").
#pragma once

#include <vector>

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
/// (variance_inflation()). The ends move away from the middle by its root, in ranks; beyond the
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

// Quantiles of the normal distribution and of Student's t.

/// The value that a standard normal variable, or Student's t with `degrees` of freedom, does not
/// exceed with this probability. Throw std::invalid_argument for a probability outside (0, 1) or
/// degrees that are not positive.
double normal_quantile(double probability);
double student_quantile(double probability, double degrees);

/// P(T > |t|) + P(T < -|t|) of Student's t.
double student_two_sided(double t, double degrees);

}  // namespace amasia
