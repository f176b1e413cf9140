#include "harness/statistics/quantiles.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace amasia {
namespace {

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

}  // namespace

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
