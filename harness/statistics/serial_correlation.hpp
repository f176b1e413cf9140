// Whether the samples of one row depend on each other.
#pragma once

#include <vector>

namespace amasia {

/// Correlation of the ranks of the values with those of the values before them, 1 at most. Ranks,
/// because a single slow sample must not decide. 0 for fewer than three values, or for equal ones.
double serial_correlation(const std::vector<double>& values);

/// What that does not exceed with the probability 1 - `level` where `n` values are in an order that
/// means nothing: its mean is then -1 / n and its standard deviation 1 / sqrt(n). Throws
/// std::invalid_argument for a level outside (0, 1) or n < 1.
double serial_correlation_by_chance(int n, double level);

}  // namespace amasia
