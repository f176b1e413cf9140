#include "harness/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace amasia {
namespace {

void check_confidence(double confidence) {
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("confidence must be between 0 and 1");
  }
}

/// 1 - 2 P(Binomial(n, 1/2) < k), which is as likely as more than n - k; 0 from the middle on.
double coverage_of(int n, int k) {
  return 2 * k > n ? 0 : 1 - 2 * binomial_upper_tail(n, n - k + 1, 0.5);
}

struct Rank {
  int k = 1;            // 1-based: the interval is x(k) to x(n+1-k)
  double coverage = 0;  // 1 - 2 P(Binomial(n, 1/2) < k)
};

/// The largest k whose coverage reaches `confidence`; k = 1 with its real coverage when none does.
/// The binomial coefficients are carried as mantissa x 2^exponent: exact up to n of about 60, where
/// an interval's coverage may equal the confidence asked for, and free of underflow for any n.
Rank interval_rank(int n, double confidence) {
  long double mantissa = 1;  // C(n, i) 2^-n = mantissa * 2^exponent, at first i = 0
  int exponent = -n;
  long double tail = std::ldexp(mantissa, exponent);  // P(Binomial < k)
  Rank best{1, static_cast<double>(1 - 2 * tail)};
  for (int k = 2; 2 * k <= n + 1; ++k) {
    const int i = k - 1;
    mantissa = mantissa * static_cast<long double>(n - i + 1) / static_cast<long double>(i);
    int shift = 0;
    mantissa = std::frexp(mantissa, &shift);
    exponent += shift;
    tail += std::ldexp(mantissa, exponent);
    const double coverage = static_cast<double>(1 - 2 * tail);
    if (coverage < confidence) break;
    best = {k, coverage};
  }
  return best;
}

/// The same for values that depend on each other.
Rank interval_rank(int n, double confidence, double inflation) {
  const Rank independent = interval_rank(n, confidence);
  if (inflation == 1) return independent;
  const double stretch = std::sqrt(inflation), middle = 0.5 * (n + 1);
  const int k = static_cast<int>(std::floor(middle - (middle - independent.k) * stretch));
  if (k >= 1) return {k, independent.coverage};
  return {1, coverage_of(n, static_cast<int>(std::ceil(middle - (middle - 1) / stretch)))};
}

void check_times(const std::vector<double>& times) {
  if (times.empty()) throw std::invalid_argument("a ratio needs at least one time on each side");
  for (const double time : times) {
    if (!std::isfinite(time) || time <= 0) {
      throw std::invalid_argument("a time is not positive and finite");
    }
  }
}

/// An interval that covers less than was asked for resolves nothing, however far from 1 it lies.
bool resolves(const RatioInterval& interval, bool covered) {
  return covered && (interval.low > 1 || interval.high < 1);
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  constexpr int most_terms = 500;
  const auto kept_from_zero = [](double v) { return std::abs(v) < tiny ? tiny : v; };
  double c = 1, d = 1 / kept_from_zero(1 - (a + b) * x / (a + 1)), f = d;
  for (int m = 1; m <= most_terms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / kept_from_zero(1 + even * d);
    c = kept_from_zero(1 + even / c);
    f *= c * d;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / kept_from_zero(1 + odd * d);
    c = kept_from_zero(1 + odd / c);
    const double step = c * d;
    f *= step;
    if (std::abs(step - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return f;
}

/// The regularised incomplete beta function.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  // The fraction converges fast on this side of the mean, on the other one by symmetry.
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/// The root of a decreasing function of x >= 0, which is `target` somewhere.
template <class Function>
double where_it_falls_to(double target, Function function) {
  double low = 0, high = 1;
  while (function(high) > target && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (function(middle) > target ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

constexpr double chance_of_correlation = 1.645;  // standard deviations of 1 / sqrt(n)
constexpr double most_correlation = 0.98;        // at which 100 values are worth one
/// A sample shows no stronger dependence than that its rounds are worth so many independent ones.
constexpr double least_effective = 3;

/// Place 0, 1, ... of each value in ascending order, less the mean place; equal values share the
/// mean of theirs.
std::vector<double> centred_ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, next = 0; first < order.size(); first = next) {
    while (next < order.size() && values[order[next]] == values[order[first]]) ++next;
    const double shared =
        static_cast<double>(first + next - 1) / 2 - static_cast<double>(values.size() - 1) / 2;
    for (std::size_t i = first; i < next; ++i) ranks[order[i]] = shared;
  }
  return ranks;
}

double inflation_of(double r, double n) {
  const double unbiased = std::clamp((n * r + 1) / (n - 4), 0.0, most_correlation);
  return (1 + unbiased) / (1 - unbiased);
}

/// As estimated_inflation(), and 1 also where r is no larger than chance gives it in 19 of 20
/// series of independent values: their ranks are not to be moved, because a group goes on until its
/// intervals are narrow.
double inflation_by(std::optional<IntervalRule> rule, const std::vector<double>& values) {
  if (!rule || *rule == IntervalRule::exact || values.size() < least_dependent) return 1;
  const auto n = static_cast<double>(values.size());
  const double r = serial_correlation(values);
  return (r + 1 / n) * std::sqrt(n) <= chance_of_correlation ? 1 : inflation_of(r, n);
}

/// Whether Student's t has the interval, because no ranks do.
bool without_ranks(std::optional<IntervalRule> rule, const std::vector<double>& values,
                   double confidence) {
  return rule == IntervalRule::effective && values.size() >= least_dependent &&
         median_interval(values, confidence, estimated_inflation(values)).coverage < confidence;
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
  // P(T > |t|) + P(T < -|t|) of Student's t.
  const auto two_sided = [n](double t) {
    return incomplete_beta((n - 1) / 2, 0.5, (n - 1) / (n - 1 + t * t));
  };
  const double half = where_it_falls_to(2 * (1 - (1 + confidence) / 2), two_sided) *
                      std::sqrt(squares / (n - 1) / effective);
  const auto [least, most] = std::ranges::minmax_element(values);
  interval.low = std::min(*least, from_log(mean - half));
  interval.high = std::max(*most, from_log(mean + half));
  interval.coverage = confidence;
}

}  // namespace

double in_tenths(double value) { return std::round(10 * value) / 10; }

MedianInterval median_interval(std::vector<double> sample, double confidence, double inflation) {
  check_confidence(confidence);
  if (!(inflation >= 1)) throw std::invalid_argument("an inflation below 1");
  if (sample.empty()) throw std::invalid_argument("the median of no values");
  if (!std::ranges::all_of(sample, [](double x) { return std::isfinite(x); })) {
    throw std::invalid_argument("a value of the sample is not finite");
  }
  std::ranges::sort(sample);
  const std::size_t n = sample.size();
  const Rank rank = interval_rank(static_cast<int>(n), confidence, inflation);
  const std::size_t k = static_cast<std::size_t>(rank.k);
  MedianInterval result;
  const double lower_middle = sample[(n - 1) / 2], upper_middle = sample[n / 2];
  result.median = lower_middle + (upper_middle - lower_middle) / 2;
  result.low = sample[k - 1];
  result.high = sample[n - k];
  result.coverage = rank.coverage;
  result.n = static_cast<int>(n);
  result.minimum = sample.front();
  result.maximum = sample.back();
  return result;
}

double half_width(const MedianInterval& interval) {
  return (interval.high - interval.low) / (2 * interval.median);
}

double half_width(const RatioInterval& interval) {
  return (interval.high - interval.low) / (2 * interval.ratio);
}

RatioInterval paired_ratio(const std::vector<double>& reference,
                           const std::vector<double>& candidate, double confidence,
                           double inflation) {
  check_confidence(confidence);
  if (reference.size() != candidate.size()) {
    throw std::invalid_argument("a paired comparison needs as many times on each side");
  }
  check_times(reference);
  check_times(candidate);
  std::vector<double> log_ratio;
  log_ratio.reserve(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) {
    log_ratio.push_back(std::log(reference[i] / candidate[i]));
  }
  const MedianInterval logs = median_interval(std::move(log_ratio), confidence, inflation);
  RatioInterval result;
  result.ratio = std::exp(logs.median);
  result.low = std::exp(logs.low);
  result.high = std::exp(logs.high);
  result.coverage = logs.coverage;
  result.n = logs.n;
  result.resolved = resolves(result, logs.coverage >= confidence);
  return result;
}

std::vector<double> quotients(const std::vector<double>& over, const std::vector<double>& under) {
  std::vector<double> list;
  for (std::size_t i = 0; i < std::min(over.size(), under.size()); ++i) {
    list.push_back(over[i] / under[i]);
  }
  return list;
}

double corrected_confidence(double confidence, int comparisons) {
  check_confidence(confidence);
  return 1 - (1 - confidence) / std::max(comparisons, 1);
}

Trend trend_of(const std::vector<double>& series) {
  Trend trend;
  const std::size_t n = series.size(), third = n / 3;
  if (third < 2) return trend;
  const std::vector<double> ranks = centred_ranks(series);
  double both = 0, of_rank = 0, of_place = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double rank = ranks[i], place = static_cast<double>(i) - 0.5 * static_cast<double>(n - 1);
    both += rank * place;
    of_rank += rank * rank;
    of_place += place * place;
  }
  if (of_rank == 0) return trend;
  trend.correlation = both / std::sqrt(of_rank * of_place);
  trend.z = trend.correlation * std::sqrt(static_cast<double>(n - 1));
  const auto part = static_cast<std::ptrdiff_t>(third);
  const auto median_of = [](auto first, auto last) {
    return median_interval({first, last}, 0.5).median;
  };
  trend.shift = median_of(series.end() - part, series.end()) /
                    median_of(series.begin(), series.begin() + part) -
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
  const std::vector<double> ranks = centred_ranks(values);
  double with_next = 0, squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    squares += ranks[i] * ranks[i];
    if (i > 0) with_next += ranks[i] * ranks[i - 1];
  }
  return squares > 0 ? with_next / squares : 0;
}

double serial_correlation_by_chance(int n, double level) {
  if (n < 1) throw std::invalid_argument("a correlation of no values");
  if (!(level > 0 && level < 0.5)) throw std::invalid_argument("a level beyond 0 to 0.5");
  const auto upper_tail = [](double z) { return std::erfc(z / std::sqrt(2.0)) / 2; };
  return where_it_falls_to(level, upper_tail) / std::sqrt(static_cast<double>(n)) - 1.0 / n;
}

double estimated_inflation(const std::vector<double>& values) {
  if (values.size() < least_dependent) return 1;
  return inflation_of(serial_correlation(values), static_cast<double>(values.size()));
}

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
