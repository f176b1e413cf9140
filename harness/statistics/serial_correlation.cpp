#include "harness/statistics/serial_correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

#include "harness/statistics/between.hpp"

namespace amasia {
namespace {

/// 0, 1, ... in ascending order; equal values share the mean of their places.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, next = 0; first < order.size(); first = next) {
    while (next < order.size() && values[order[next]] == values[order[first]]) ++next;
    const double shared = static_cast<double>(first + next - 1) / 2;
    for (std::size_t i = first; i < next; ++i) ranks[order[i]] = shared;
  }
  return ranks;
}

}  // namespace

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

}  // namespace amasia
