#include "harness/statistics/series.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>

#include "harness/statistics/statistics.hpp"

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

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

namespace {

/// Whether Student's t has the interval, because no ranks do.
bool without_ranks(std::optional<IntervalRule> rule, const std::vector<double>& values,
                   double confidence) {
  return rule == IntervalRule::effective && values.size() >= least_dependent &&
         median_interval(values, confidence, estimated_inflation(values)).coverage < confidence;
}

double inflation_by(std::optional<IntervalRule> rule, const std::vector<double>& values) {
  return rule && *rule != IntervalRule::exact ? variance_inflation(values) : 1;
}

/// exp(), of what has one.
double from_log(double x) {
  constexpr double most = 700;
  return std::exp(std::clamp(x, -most, most));
}

/// Sets the ends that Student's t gives these positive values.
template <class Interval>
void set_ends(Interval& interval, const std::vector<double>& values, double confidence) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, squares = 0;
  for (const double v : values) mean += std::log(v) / n;
  for (const double v : values) squares += (std::log(v) - mean) * (std::log(v) - mean);
  const double effective = std::max(n / estimated_inflation(values), least_effective);
  const double half =
      student_quantile((1 + confidence) / 2, n - 1) * std::sqrt(squares / (n - 1) / effective);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  interval.low = std::min(*least, from_log(mean - half));
  interval.high = std::max(*most, from_log(mean + half));
  interval.coverage = confidence;
}

}  // namespace

MedianInterval median_by(std::optional<IntervalRule> rule, const std::vector<double>& values,
                         double confidence) {
  MedianInterval result = median_interval(values, confidence, inflation_by(rule, values));
  if (without_ranks(rule, values, confidence)) set_ends(result, values, confidence);
  return result;
}

RatioInterval ratio_by(std::optional<IntervalRule> rule, const std::vector<double>& reference,
                       const std::vector<double>& candidate, double confidence) {
  const std::vector<double> ratios = quotients(reference, candidate);
  RatioInterval result = paired_ratio(reference, candidate, confidence, inflation_by(rule, ratios));
  if (without_ranks(rule, ratios, confidence)) {
    set_ends(result, ratios, confidence);
    result.resolved = result.low > 1 || result.high < 1;
  }
  return result;
}

}  // namespace amasia
