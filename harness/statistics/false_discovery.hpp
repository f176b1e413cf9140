// Many comparisons at once: which of them may be called differences.
#pragma once

#include <vector>

namespace amasia {

/// Which of several hypotheses are refused, and the level that each had to reach.
struct Discoveries {
  std::vector<bool> found{};
  double level = 0;
};

/// The procedure of Benjamini and Hochberg (1995): of those that are refused, a share of `rate` at
/// most is so wrongly, on average. Where many differ, each needs less than if it stood alone, so
/// that the power does not fall with the number of comparisons as Bonferroni's does. With none
/// refused, the level is what the first one would have needed. An interval at the confidence
/// 1 - level is the one of Benjamini and Yekutieli (2005) that goes with it. Throws
/// std::invalid_argument for a rate outside (0, 1).
Discoveries benjamini_hochberg(const std::vector<double>& p_values, double rate);

/// One less the largest confidence at which independent_ratio() tells the two samples apart; 1
/// where none does. Throws as independent_ratio().
double independent_p_value(const std::vector<double>& reference,
                           const std::vector<double>& candidate);

/// What that gives for two samples of which the smaller has `n` values and nothing in common with
/// the other.
double least_p_value(int n);

}  // namespace amasia
