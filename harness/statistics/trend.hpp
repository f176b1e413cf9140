// Whether a series rises or falls, and how rare a count is: for the detectors of disturbed
// measurements (harness/session/validity.hpp).
#pragma once

#include <vector>

namespace amasia {

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

}  // namespace amasia
