#include "apps/lud/cpu_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "apps/common/max_norm.hpp"

namespace amasia::lud {
namespace {

// The second reference, built the other way round: Crout's, which finishes column k of L and row k
// of U by dot products with all that went before, and puts the unit diagonal into U. Scaled to the
// first one's normalisation at the end.
std::vector<double> reference_by_dot_products(const HostMatrix& matrix) {
  const std::int64_t n = matrix.n;
  std::vector<double> lu(matrix.elements.begin(), matrix.elements.end());
  const auto dot = [&](std::int64_t i, std::int64_t j, std::int64_t count) {
    double sum = 0;
    for (std::int64_t k = 0; k < count; ++k) sum += lu[i * n + k] * lu[k * n + j];
    return sum;
  };
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t i = k; i < n; ++i) lu[i * n + k] -= dot(i, k, k);
    for (std::int64_t j = k + 1; j < n; ++j) {
      lu[k * n + j] = (lu[k * n + j] - dot(k, j, k)) / lu[k * n + k];
    }
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = lu[k * n + k];
    for (std::int64_t i = k + 1; i < n; ++i) lu[i * n + k] /= pivot;
    for (std::int64_t j = k + 1; j < n; ++j) lu[k * n + j] *= pivot;
  }
  return lu;
}

// sum and sum of magnitudes of l(i,k) u(k,j) over k
struct ProductOfRow {
  double value = 0, magnitude = 0;
};
template <class T>
ProductOfRow product(const T* lu, std::int64_t pitch, std::int64_t i, std::int64_t j,
                     Normalisation which) {
  const std::int64_t last = std::min(i, j);
  ProductOfRow sum;
  for (std::int64_t k = 0; k <= last; ++k) {
    const double l = k == i && which == Normalisation::unit_lower ? 1.0 : lu[i * pitch + k];
    const double u = k == j && which == Normalisation::unit_upper ? 1.0 : lu[k * pitch + j];
    sum.value += l * u;
    sum.magnitude += std::abs(l * u);
  }
  return sum;
}

bool tests_stability(Input input) {
  return input == Input::uniform || input == Input::graded || input == Input::ill_conditioned;
}

/// Of a reference: its componentwise backward error, and how much |L| |U| exceeds the largest
/// element.
struct Backward {
  double error = 0, growth = 0;
};

Backward backward(const std::vector<double>& lu, const HostMatrix& matrix) {
  Backward found;
  double largest = 0;
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    for (std::int64_t j = 0; j < matrix.n; ++j) {
      const double a = matrix.elements[i * matrix.n + j];
      const ProductOfRow p = product(lu.data(), matrix.n, i, j, Normalisation::unit_lower);
      const double error = a == p.value ? 0 : std::abs(a - p.value) / p.magnitude;
      if (std::isnan(error)) return {error, p.magnitude};
      found.error = std::max(found.error, error);
      found.growth = std::max(found.growth, p.magnitude);
      largest = std::max(largest, std::abs(a));
    }
  }
  found.growth /= largest;
  return found;
}

}  // namespace

std::vector<double> reference(const HostMatrix& matrix) {
  const std::int64_t n = matrix.n;
  std::vector<double> lu(matrix.elements.begin(), matrix.elements.end());
  for (std::int64_t k = 0; k < n; ++k) {
    const double* pivot_row = lu.data() + k * n;
#pragma omp parallel for if (n - k > 256)
    for (std::int64_t i = k + 1; i < n; ++i) {
      double* row = lu.data() + i * n;
      row[k] /= pivot_row[k];
      for (std::int64_t j = k + 1; j < n; ++j) row[j] -= row[k] * pivot_row[j];
    }
  }
  return lu;
}

double error_bound(std::int64_t n) {
  return std::ldexp(1.0, -24) * (32 + 4 * std::sqrt(static_cast<double>(n)));
}

double rms_bound(std::int64_t n) { return error_bound(n) / 20; }

Normalisation normalisation_of(const float* got, std::int64_t pitch, const HostMatrix& matrix) {
  double lower = 0, upper = 0;
  for (std::int64_t t = 0; t < matrix.n; ++t) {
    for (const auto& cell : {std::pair<std::int64_t, std::int64_t>{0, t}, {t, 0}}) {
      const auto i = cell.first, j = cell.second;
      const double a = matrix.elements[i * matrix.n + j];
      const auto error = [&](Normalisation which) {
        const double e = std::abs(a - product(got, pitch, i, j, which).value);
        return std::isfinite(e) ? e : std::abs(a);
      };
      lower += error(Normalisation::unit_lower);
      upper += error(Normalisation::unit_upper);
    }
  }
  return upper < lower ? Normalisation::unit_upper : Normalisation::unit_lower;
}

double slack_of(Normalisation which, Input input) {
  constexpr double large = TriangleFactor::large;
  return which == Normalisation::unit_upper && tests_stability(input) ? large * large * large : 1;
}

double slack_of(Normalisation which, const HostMatrix& from_file) {
  if (which == Normalisation::unit_lower) return 1;
  const double most = largest_library_bound / error_bound(from_file.n);
  return std::clamp(from_file.condition, 1.0, std::max(1.0, most));
}

Verdict with_rms(Verdict verdict, Normalisation which, const Growth& growth, double rms,
                 std::int64_t n, double slack) {
  const double bound = slack * rms_bound(n);
  verdict.norm = fmt::format(
      "max |A - LU| / (|L||U|), RMS {:.2g} of {:.2g}, {}, growth {:.3g}, smallest pivot {:.2g} of "
      "the largest element in step {}",
      rms, bound, name_of(which), growth.factor, growth.smallest_pivot, growth.step);
  if (!verdict.passed || rms <= bound) return verdict;
  verdict.passed = false;
  verdict.norm = "RMS of |A - LU| / (|L||U|)";
  verdict.error = rms;
  verdict.bound = bound;
  verdict.first_mismatches = {fmt::format(
      "no element is far off, but all together are: RMS {:.3g}, accepted {:.3g}", rms, bound)};
  return verdict;
}

Verdict compare(const float* got, std::int64_t pitch, const HostMatrix& matrix, Normalisation which,
                double slack) {
  const std::int64_t n = matrix.n;
  Verdict v{true, "", 0, slack * error_bound(n), n * n, 0};
  double largest = 0, largest_product = 0, squares = 0;
  Growth growth{0, std::numeric_limits<double>::infinity(), 0};
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double a = matrix.elements[i * n + j];
      const ProductOfRow p = product(got, pitch, i, j, which);
      largest = std::max(largest, std::abs(a));
      if (std::isfinite(p.magnitude)) largest_product = std::max(largest_product, p.magnitude);
      const double error = a == p.value ? 0 : std::abs(a - p.value) / p.magnitude;
      squares += error * error;
      count_element(v, error, [&] {
        return fmt::format("({}, {}): LU is {:.9g}, expected {:.9g}", i, j, p.value, a);
      });
    }
  }
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = std::abs(static_cast<double>(got[k * pitch + k]));
    if (pivot < growth.smallest_pivot) growth.smallest_pivot = pivot, growth.step = k + 1;
  }
  growth.factor = largest_product / largest;
  growth.smallest_pivot /= largest;
  v.passed = v.mismatches == 0;
  return with_rms(v, which, growth, std::sqrt(squares / static_cast<double>(n * n)), n, slack);
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const HostMatrix matrix = host_matrix(p, seed);
  const std::vector<double> first = reference(matrix), second = reference_by_dot_products(matrix);
  Verdict v{true, "", 0, 0, matrix.n * matrix.n, 0};
  const bool dominant = is_dominant(matrix);
  if (dominant) {
    // fp64 against fp64: n roundings of 2^-53 at worst, with some room for what the condition of L
    // and U, which is small, makes of them.
    v.norm = "max abs difference of the two references / max abs element";
    double largest = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      largest = std::max(largest, std::abs(first[i]));
      v.error = std::max(v.error, std::abs(first[i] - second[i]));
    }
    v.error /= largest;
    v.bound = std::ldexp(1.0, -53) * 100 * static_cast<double>(matrix.n + 1);
  } else {
    // n roundings each of the decomposition and of the check, of nothing larger than (|L||U|)(i,j),
    // whatever grows and however ill-conditioned L and U are.
    const Backward of_first = backward(first, matrix), of_second = backward(second, matrix);
    v.norm = fmt::format("max |A - LU| / (|L||U|) of both references, growth {:.3g}",
                         std::max(of_first.growth, of_second.growth));
    v.error =
        std::isnan(of_second.error) ? of_second.error : std::max(of_first.error, of_second.error);
    v.bound = std::ldexp(1.0, -53) * 2 * static_cast<double>(matrix.n + 1);
  }
  v.passed = std::isfinite(v.error) && v.error <= v.bound;
  if (!v.passed) {
    v.mismatches = 1;
    v.first_mismatches.emplace_back(dominant ? "the two references differ"
                                             : "L U of a reference is not the matrix");
  }
  return v;
}

}  // namespace amasia::lud
