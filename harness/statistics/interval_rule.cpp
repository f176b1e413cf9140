#include "harness/statistics/interval_rule.hpp"

#include <algorithm>
#include <cmath>

#include "harness/statistics/quantiles.hpp"
#include "harness/statistics/series.hpp"

namespace amasia {
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
