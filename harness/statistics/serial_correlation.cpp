#include "harness/statistics/serial_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include "harness/statistics/quantiles.hpp"
#include "harness/statistics/ranks.hpp"

namespace amasia {

double serial_correlation(const std::vector<double>& values) {
  const std::size_t n = values.size();
  if (n < 3) return 0;
  const std::vector<double> ranks = ranks_of(values);
  const double mean = static_cast<double>(n - 1) / 2;
  double with_next = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    squares += (ranks[i] - mean) * (ranks[i] - mean);
    if (i > 0) with_next += (ranks[i] - mean) * (ranks[i - 1] - mean);
  }
  return squares > 0 ? with_next / squares : 0;
}

double serial_correlation_by_chance(int n, double level) {
  if (n < 1) throw std::invalid_argument("a correlation of no values");
  return normal_quantile(1 - level) / std::sqrt(static_cast<double>(n)) - 1.0 / n;
}

namespace {

double inflation_of(double r, double n) {
  const double unbiased = std::clamp((n * r + 1) / (n - 4), 0.0, most_correlation);
  return (1 + unbiased) / (1 - unbiased);
}

}  // namespace

double estimated_inflation(const std::vector<double>& values) {
  if (values.size() < least_dependent) return 1;
  return inflation_of(serial_correlation(values), static_cast<double>(values.size()));
}

double variance_inflation(const std::vector<double>& values) {
  if (values.size() < least_dependent) return 1;
  const auto n = static_cast<double>(values.size());
  const double r = serial_correlation(values);
  return (r + 1 / n) * std::sqrt(n) <= chance_of_correlation ? 1 : inflation_of(r, n);
}

}  // namespace amasia
