#include "harness/statistics/between.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "harness/statistics/quantiles.hpp"
#include "harness/statistics/ranks.hpp"

namespace amasia {
namespace {

constexpr double median_of_chi_squared = 0.4549364231195724;  // with one degree of freedom
constexpr double normal_quartile = -0.6744897501960817;

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

/// By Wilson and Hilferty's cube, 1931, which two programs can agree on.
double lower_quartile_of_chi_squared(double degrees) {
  const double ninth = 2 / (9 * degrees);
  return degrees * std::pow(1 - ninth + normal_quartile * std::sqrt(ninth), 3);
}

/// Of what a GPU does to two rows, from those on two GPUs or more, whose means vary by `variance`.
/// Few GPUs may show a smaller one than there is, by chance: it is taken as so large that three of
/// four such sets of GPUs would have shown more.
double correlation_of(const std::vector<RowSpread>& moved, double variance) {
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
  if (!(pairs > 0 && own > 0)) return 0;
  const double degrees = static_cast<double>(gpus.size()) - 1;
  const double shown = std::max(0.0, products / pairs / (own / all));
  return std::min(1.0, shown * degrees / lower_quartile_of_chi_squared(degrees));
}

/// A variance with the degrees of freedom that it is known with.
struct Known {
  double variance = 0;
  double degrees = 0;
};

/// Between sessions on one GPU, as it is right for this row; of 0 degrees nothing but the error
/// within a run is known.
Known within_of(const RowSpread& row, const Components& kind) {
  const double pool = std::min(double{pool_degrees}, kind.session_degrees);
  const double degrees = pool + row.within_degrees;
  double variance = kind.session_variance;
  if (degrees > 0) variance = (pool * variance + row.within) / degrees;
  return {std::max(variance, row.error), degrees};
}

/// Between the means of GPUs, as it is right for this row; of 0 degrees it is not known.
Known between_of(const RowSpread& row, const Components& kind, const Known& session) {
  const double pool = std::min(kind.most_gpu_degrees, kind.gpu_degrees);
  const double degrees = pool + row.gpus() - 1;
  if (degrees == 0) return {};
  const double expected = kind.gpu_variance + session.variance * row.shares;
  const double variance = (pool * expected + row.between) / degrees;
  return {std::max(variance, row.error * row.shares), degrees};
}

/// Satterthwaite: the degrees of freedom of a sum of two variances that are each estimated.
Known sum_of(const Known& a, const Known& b) {
  const double variance = a.variance + b.variance;
  if (!(variance > 0)) return {0, a.degrees};
  double parts = 0;
  for (const Known& part : {a, b}) {
    if (part.variance > 0) parts += part.variance * part.variance / part.degrees;
  }
  return {variance, variance * variance / parts};
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
  if (!(confidence > 0 && confidence < 1)) {
    throw std::invalid_argument("a confidence must be between 0 and 1");
  }
}

}  // namespace

double half_width(const Prediction& prediction) {
  return (prediction.high - prediction.low) / (2 * prediction.value);
}

void Pool::Variance::take_out(double row_squares, int row_degrees) {
  if (row_degrees == 0) return;
  const double own = std::min(row_squares / row_degrees, most) * row_degrees;
  degrees -= row_degrees;
  --rows;
  squares = degrees > 0 ? std::max(0.0, squares - own) : 0;
}

Pool::Variance Pool::pooled(const std::vector<Squares>& rows) {
  Variance pooled;
  std::vector<double> variances;
  for (const Squares& row : rows) {
    if (row.degrees > 0) variances.push_back(row.sum / row.degrees);
  }
  if (variances.empty()) return pooled;
  const double typical = median_of(variances) / median_of_chi_squared;
  pooled.most =
      typical > 0 ? pool_winsor * pool_winsor * typical : std::numeric_limits<double>::infinity();
  for (const Squares& row : rows) {
    if (row.degrees == 0) continue;
    pooled.squares += std::min(row.sum / row.degrees, pooled.most) * row.degrees;
    pooled.degrees += row.degrees;
    ++pooled.rows;
  }
  return pooled;
}

Pool::Pool(const std::vector<std::vector<SessionValue>>& rows) {
  std::vector<Squares> within, between;
  std::vector<RowSpread> moved;
  for (const std::vector<SessionValue>& sessions : rows) {
    if (sessions.empty()) continue;
    const RowSpread row(sessions);
    ++rows_;
    errors_ += row.error;
    within.push_back({row.within, row.within_degrees});
    if (row.gpus() == 1) continue;
    between.push_back({row.between, row.gpus() - 1});
    shares_ += row.shares * (row.gpus() - 1);
    for (const auto& [gpu, values] : row.by_gpu) ++rows_on_[gpu];
    moved.push_back(row);
  }
  session_ = pooled(within);
  gpu_ = pooled(between);
  correlation_ = correlation_of(moved, gpu_.mean());
}

Pool Pool::of_others() const {
  Pool others = *this;
  others.most_gpu_degrees_ = 1;
  return others;
}

Pool Pool::without(const std::vector<SessionValue>& sessions) const {
  Pool left = *this;
  if (sessions.empty()) return left;
  const RowSpread row(sessions);
  --left.rows_;
  left.errors_ -= row.error;
  left.session_.take_out(row.within, row.within_degrees);
  if (row.gpus() == 1) return left;
  left.gpu_.take_out(row.between, row.gpus() - 1);
  left.shares_ -= row.shares * (row.gpus() - 1);
  for (const auto& [gpu, values] : row.by_gpu) {
    if (--left.rows_on_[gpu] <= 0) left.rows_on_.erase(gpu);
  }
  return left;
}

Components Pool::components() const {
  Components kind;
  const double error = rows_ > 0 ? std::max(0.0, errors_ / rows_) : 0;
  kind.session_variance = std::max(session_.mean(), error);
  // A mean over the sessions of a GPU still has their share of the variance within.
  const double share = gpu_.degrees > 0 ? shares_ / gpu_.degrees : 0;
  kind.gpu_variance = std::max(0.0, gpu_.mean() - kind.session_variance * share);
  kind.gpu_rows = gpu_.rows;
  kind.session_rows = session_.rows;
  kind.gpu_degrees = gpu_degrees();
  kind.session_degrees = session_.degrees;
  kind.most_gpu_degrees = most_gpu_degrees_;
  return kind;
}

/// Those of the GPUs times the number of rows that move by themselves: of n rows, with correlation
/// r, n / (1 + (n - 1) r).
double Pool::gpu_degrees() const {
  if (gpu_.rows == 0) return 0;
  const double n = gpu_.rows;
  const double by_themselves = n / (1 + (n - 1) * correlation_);
  const double of_gpus = static_cast<double>(rows_on_.size()) - 1;
  return std::min(std::max(1.0, of_gpus * by_themselves), static_cast<double>(gpu_.degrees));
}

Components pooled_components(const std::vector<std::vector<SessionValue>>& rows) {
  return Pool(rows).components();
}

std::optional<Prediction> predict(const std::vector<SessionValue>& sessions, const Components& kind,
                                  double confidence) {
  check(sessions, confidence);
  const RowSpread row(sessions);
  const Known session = within_of(row, kind);
  Known gpu = between_of(row, kind, session), rest = session;
  if (gpu.degrees == 0) return std::nullopt;
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
  Known known = within_of(row, kind);
  if (here == row.by_gpu.end() || known.degrees == 0) return std::nullopt;
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
  // The sides say much of the same: the row of the one may be in the pool of the other. Together
  // they know no more than a row and its pool do.
  double most = 0;
  if (same_gpus) {
    left.variance *= a.shares;
    right.variance *= b.shares;
    most = std::max(kind_of_a.session_degrees + a.within_degrees,
                    kind_of_b.session_degrees + b.within_degrees);
  } else {
    left = between_of(a, kind_of_a, session_a);
    right = between_of(b, kind_of_b, session_b);
    most = std::max(kind_of_a.gpu_degrees + a.gpus(), kind_of_b.gpu_degrees + b.gpus()) - 1;
  }
  if (left.degrees == 0 || right.degrees == 0) return std::nullopt;
  left.variance /= a.gpus();
  right.variance /= b.gpus();
  const Known sum = sum_of(left, right);
  return Difference{a.mean - b.mean, std::sqrt(sum.variance), std::min(sum.degrees, most)};
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

}  // namespace amasia
