#include "harness/statistics/between.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "harness/statistics/ranks.hpp"

namespace amasia {
namespace {

constexpr double median_of_chi_squared = 0.4549364231195724;  // with one degree of freedom
constexpr double normal_quartile = -0.6744897501960817;

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

void check_probability(double probability) {
  if (!(probability > 0 && probability < 1)) {
    throw std::invalid_argument("a probability must be between 0 and 1");
  }
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

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// What a row says of itself: the means of its GPUs, and the deviations from them.
struct RowSpread {
  std::map<std::string, std::vector<double>> by_gpu{};
  std::vector<double> means{};
  double mean = 0;     // of the means of the GPUs
  double between = 0;  // sum of squares of those
  double within = 0;   // sum of squares about the mean of a GPU
  int within_degrees = 0;
  double shares = 0;  // mean over the GPUs of 1 / sessions there
  double error = 0;   // mean variance within the runs

  explicit RowSpread(const std::vector<SessionValue>& row) {
    for (const SessionValue& session : row) {
      by_gpu[session.gpu].push_back(session.value);
      error += session.error * session.error / static_cast<double>(row.size());
    }
    for (const auto& [gpu, values] : by_gpu) {
      means.push_back(mean_of(values));
      for (const double v : values) within += (v - means.back()) * (v - means.back());
      within_degrees += static_cast<int>(values.size()) - 1;
      shares += 1 / static_cast<double>(values.size());
    }
    shares /= static_cast<double>(means.size());
    mean = mean_of(means);
    for (const double m : means) between += (m - mean) * (m - mean);
  }

  int gpus() const { return static_cast<int>(means.size()); }
};

struct Squares {
  double sum = 0;
  int degrees = 0;
};

/// Mean of the rows' variances, weighted by their degrees of freedom, none with more than
/// pool_winsor times the typical standard deviation.
double pooled(const std::vector<Squares>& rows) {
  std::vector<double> variances;
  for (const Squares& row : rows) variances.push_back(row.sum / row.degrees);
  const double typical = median_of(variances) / median_of_chi_squared;
  double sum = 0, degrees = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double most = typical > 0 ? pool_winsor * pool_winsor * typical : variances[i];
    sum += std::min(variances[i], most) * rows[i].degrees;
    degrees += rows[i].degrees;
  }
  return sum / degrees;
}

/// By Wilson and Hilferty's cube, 1931, which two programs can agree on.
double lower_quartile_of_chi_squared(double degrees) {
  const double ninth = 2 / (9 * degrees);
  return degrees * std::pow(1 - ninth + normal_quartile * std::sqrt(ninth), 3);
}

/// What rows on two GPUs or more, whose means vary by `variance`, know of GPUs, in degrees of
/// freedom: those of the GPUs times the number of rows that move by themselves. That is
/// n / (1 + (n - 1) r) of n rows, r the correlation of what a GPU does to two of them. Few GPUs may
/// show a smaller one than there is, by chance: it is taken as so large that three of four such
/// sets of GPUs would have shown more.
double degrees_of_gpus(const std::vector<RowSpread>& moved, double variance) {
  struct OfGpu {
    double sum = 0, squares = 0, rows = 0;
  };
  std::map<std::string, OfGpu> gpus;
  for (const RowSpread& row : moved) {
    const double k = row.gpus();
    std::size_t g = 0;
    for (const auto& [gpu, values] : row.by_gpu) {
      const double deviation = (row.means[g++] - row.mean) * std::sqrt(k / (k - 1));
      const double of_typical =
          variance > 0 ? std::clamp(deviation / std::sqrt(variance), -pool_winsor, pool_winsor) : 0;
      OfGpu& of = gpus[gpu];
      of.sum += of_typical;
      of.squares += of_typical * of_typical;
      ++of.rows;
    }
  }
  double own = 0, products = 0, pairs = 0, all = 0;
  for (const auto& [gpu, of] : gpus) {
    own += of.squares;
    products += of.sum * of.sum - of.squares;
    pairs += of.rows * (of.rows - 1);
    all += of.rows;
  }
  const double degrees = static_cast<double>(gpus.size()) - 1;
  const double shown = pairs > 0 && own > 0 ? products / pairs / (own / all) : 0;
  const double correlation =
      std::min(1.0, std::max(0.0, shown) * degrees / lower_quartile_of_chi_squared(degrees));
  const double n = static_cast<double>(moved.size());
  return std::clamp(degrees * n / (1 + (n - 1) * correlation), 1.0, double{pool_degrees});
}

/// A variance with the degrees of freedom that it is known with.
struct Known {
  double variance = 0;
  double degrees = 0;
};

/// Between sessions on one GPU, as it is right for this row: that of its kind, and its own.
Known within_of(const RowSpread& row, const Components& kind) {
  const double degrees = pool_degrees + row.within_degrees;
  const double variance = (pool_degrees * kind.session_variance + row.within) / degrees;
  return {std::max(variance, row.error), degrees};
}

/// Between the means of GPUs, as it is right for this row.
Known between_of(const RowSpread& row, const Components& kind, const Known& session) {
  const double degrees = kind.gpu_degrees + row.gpus() - 1;
  const double expected = kind.gpu_variance + session.variance * row.shares;
  return {(kind.gpu_degrees * expected + row.between) / degrees, degrees};
}

/// Satterthwaite: the degrees of freedom of a sum of two variances that are each estimated.
Known sum_of(const Known& a, const Known& b) {
  const double variance = a.variance + b.variance;
  if (!(variance > 0)) return {0, a.degrees};
  return {variance,
          variance * variance /
              (a.variance * a.variance / a.degrees + b.variance * b.variance / b.degrees)};
}

bool on_same_gpus(const RowSpread& a, const RowSpread& b) {
  return std::equal(a.by_gpu.begin(), a.by_gpu.end(), b.by_gpu.begin(), b.by_gpu.end(),
                    [](const auto& x, const auto& y) { return x.first == y.first; });
}

Prediction interval(double mean, const Known& known, double confidence, int sessions, int gpus) {
  const double half =
      student_quantile((1 + confidence) / 2, known.degrees) * std::sqrt(known.variance);
  return {std::exp(mean),
          std::exp(mean - half),
          std::exp(mean + half),
          confidence,
          known.degrees,
          sessions,
          gpus};
}

void check(const std::vector<SessionValue>& row, double confidence) {
  if (row.empty()) throw std::invalid_argument("a prediction needs a session");
  check_probability(confidence);
}

}  // namespace

double half_width(const Prediction& prediction) {
  return (prediction.high - prediction.low) / (2 * prediction.value);
}

Components pooled_components(const std::vector<std::vector<SessionValue>>& rows) {
  Components kind;
  std::vector<Squares> within, between;
  double error = 0, shares = 0, degrees = 0;
  std::vector<RowSpread> moved;
  int said = 0;
  for (const std::vector<SessionValue>& sessions : rows) {
    if (sessions.empty()) continue;
    const RowSpread row(sessions);
    ++said;
    error += row.error;
    if (row.within_degrees > 0) within.push_back({row.within, row.within_degrees});
    if (row.gpus() > 1) {
      between.push_back({row.between, row.gpus() - 1});
      shares += row.shares * (row.gpus() - 1);
      degrees += row.gpus() - 1;
      moved.push_back(row);
    }
  }
  if (said == 0) return kind;
  kind.session_rows = static_cast<int>(within.size());
  kind.gpu_rows = static_cast<int>(between.size());
  kind.gpu_degrees = 1;
  kind.session_variance = std::max(within.empty() ? 0 : pooled(within), error / said);
  if (!between.empty()) {
    // A mean over the sessions of a GPU still has their share of the variance within.
    const double total = pooled(between);
    kind.gpu_variance = std::max(0.0, total - kind.session_variance * shares / degrees);
    kind.gpu_degrees = degrees_of_gpus(moved, total);
  }
  return kind;
}

std::optional<Prediction> predict(const std::vector<SessionValue>& sessions, const Components& kind,
                                  double confidence) {
  check(sessions, confidence);
  if (kind.gpu_rows == 0) return std::nullopt;
  const RowSpread row(sessions);
  const Known session = within_of(row, kind);
  Known gpu = between_of(row, kind, session), rest = session;
  // The mean of several sessions of a GPU varies less than one session of another GPU does.
  gpu.variance *= 1 + 1.0 / row.gpus();
  rest.variance *= 1 - row.shares;
  const Known known = sum_of(gpu, rest);
  return interval(row.mean, known, confidence, static_cast<int>(sessions.size()), row.gpus());
}

std::optional<Prediction> predict_on(const std::string& gpu,
                                     const std::vector<SessionValue>& sessions,
                                     const Components& kind, double confidence) {
  check(sessions, confidence);
  const RowSpread row(sessions);
  const auto here = row.by_gpu.find(gpu);
  if (here == row.by_gpu.end() || kind.session_rows == 0) return std::nullopt;
  Known known = within_of(row, kind);
  known.variance *= 1 + 1 / static_cast<double>(here->second.size());
  return interval(mean_of(here->second), known, confidence, static_cast<int>(here->second.size()),
                  1);
}

std::optional<Difference> difference(const std::vector<SessionValue>& of_a,
                                     const Components& kind_of_a,
                                     const std::vector<SessionValue>& of_b,
                                     const Components& kind_of_b) {
  check(of_a, 0.5);
  check(of_b, 0.5);
  const RowSpread a(of_a), b(of_b);
  const Known session_a = within_of(a, kind_of_a), session_b = within_of(b, kind_of_b);
  const bool same_gpus = on_same_gpus(a, b);
  Known left = session_a, right = session_b;
  if (same_gpus) {
    if (kind_of_a.session_rows == 0 || kind_of_b.session_rows == 0) return std::nullopt;
    left.variance *= a.shares / a.gpus();
    right.variance *= b.shares / b.gpus();
  } else {
    if (kind_of_a.gpu_rows == 0 || kind_of_b.gpu_rows == 0) return std::nullopt;
    left = between_of(a, kind_of_a, session_a);
    right = between_of(b, kind_of_b, session_b);
    left.variance /= a.gpus();
    right.variance /= b.gpus();
  }
  const Known sum = sum_of(left, right);
  return Difference{a.mean - b.mean, std::sqrt(sum.variance), sum.degrees};
}

double p_value(const Difference& difference) {
  if (difference.value == 0) return 1;
  if (difference.deviation == 0) return 0;
  return student_two_sided(difference.value / difference.deviation, difference.degrees);
}

double p_value(const Prediction& prediction, double value) {
  const double half = std::log(prediction.high / prediction.value);
  const double deviation =
      half / student_quantile((1 + prediction.confidence) / 2, prediction.degrees);
  return p_value(Difference{value - std::log(prediction.value), deviation, prediction.degrees});
}

double log_error(double low, double high, double coverage) {
  if (!(coverage > 0 && coverage < 1 && low > 0 && low <= high)) return 0;
  return std::log(high / low) / (2 * normal_quantile((1 + coverage) / 2));
}

double normal_quantile(double probability) {
  check_probability(probability);
  if (probability < 0.5) return -normal_quantile(1 - probability);
  const double tail = 1 - probability;
  return where_it_falls_to(tail, [](double z) { return std::erfc(z / std::sqrt(2.0)) / 2; });
}

double student_two_sided(double t, double degrees) {
  if (!(degrees > 0)) throw std::invalid_argument("degrees of freedom must be positive");
  return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

double student_quantile(double probability, double degrees) {
  check_probability(probability);
  if (!(degrees > 0)) throw std::invalid_argument("degrees of freedom must be positive");
  if (probability < 0.5) return -student_quantile(1 - probability, degrees);
  return where_it_falls_to(2 * (1 - probability),
                           [degrees](double t) { return student_two_sided(t, degrees); });
}

}  // namespace amasia
