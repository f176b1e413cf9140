#include "harness/statistics/trend.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/statistics/ranks.hpp"

namespace amasia {

Trend trend_of(const std::vector<double>& series) {
  Trend trend;
  const std::size_t n = series.size(), third = n / 3;
  if (third < 2) return trend;
  const std::vector<double> ranks = ranks_of(series);
  const double middle = 0.5 * static_cast<double>(n - 1);
  double both = 0, of_rank = 0, of_place = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double rank = ranks[i] - middle, place = static_cast<double>(i) - middle;
    both += rank * place;
    of_rank += rank * rank;
    of_place += place * place;
  }
  if (of_rank == 0) return trend;
  trend.correlation = both / std::sqrt(of_rank * of_place);
  trend.z = trend.correlation * std::sqrt(static_cast<double>(n - 1));
  const auto part = static_cast<std::ptrdiff_t>(third);
  trend.shift = median_of({series.end() - part, series.end()}) /
                    median_of({series.begin(), series.begin() + part}) -
                1;
  return trend;
}

double binomial_upper_tail(int n, int k, double p) {
  if (k <= 0) return 1;
  double tail = 0;
  for (int i = k; i <= n; ++i) {
    const double log_choose =
        std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0);
    tail += std::exp(log_choose + i * std::log(p) + (n - i) * std::log1p(-p));
  }
  return std::min(1.0, tail);
}

double quantile_of(std::vector<double> sample, double share) {
  if (sample.empty()) throw std::invalid_argument("a quantile of no values");
  const auto at = std::min(sample.size() - 1,
                           static_cast<std::size_t>(share * static_cast<double>(sample.size())));
  std::nth_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(at), sample.end());
  return sample[at];
}

}  // namespace amasia
