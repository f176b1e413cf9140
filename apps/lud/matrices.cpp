#include "apps/lud/matrices.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/lud/cpu_reference.hpp"
#include "inputs/formats/matrix.hpp"

namespace amasia::lud {

std::vector<float> rodinia_table(std::int64_t n) {
  std::vector<float> table(static_cast<std::size_t>(n));
  constexpr float lambda = -0.001f;
  for (std::int64_t d = 0; d < n; ++d) {
    const float exponent = lambda * static_cast<float>(d);
    table[d] = static_cast<float>(10 * std::exp(static_cast<double>(exponent)));
  }
  return table;
}

HostMatrix host_matrix(const Parameters& p, std::uint64_t seed) {
  HostMatrix matrix{p.integer("n"), {}};
  const std::int64_t n = matrix.n;
  if (const std::string& path = p.text("matrix_file"); !path.empty()) {
    matrix.elements = formats::read_matrix_file(path, n);
    const Trial trial = trial_of(matrix);
    if (trial.objection) throw UsageError(path + ": " + *trial.objection);
    matrix.condition = trial.condition;
    return matrix;
  }
  matrix.elements.resize(static_cast<std::size_t>(checked_product({n, n}, "n x n")));
  const Input input = input_of(p);
  const bool rodinia = input == Input::rodinia;
  const std::vector<float> table = rodinia ? rodinia_table(n) : std::vector<float>{};
  const float diagonal = least_diagonal(n, std::sqrt(static_cast<float>(n)));
#pragma omp parallel for
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      matrix.elements[i * n + j] =
          rodinia ? table[std::abs(i - j)] : generated_element(input, seed, n, i, j, diagonal);
    }
  }
  return matrix;
}

bool is_dominant(const HostMatrix& matrix) {
  const std::int64_t n = matrix.n;
  std::vector<double> of_row(n), of_column(n);  // magnitudes off the diagonal
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const double a = std::abs(matrix.elements[i * n + j]);
      of_row[i] += a;
      of_column[j] += a;
    }
  }
  bool rows = true, columns = true;
  for (std::int64_t i = 0; i < n; ++i) {
    const double a = std::abs(matrix.elements[i * n + i]);
    rows = rows && a > of_row[i];
    columns = columns && a > of_column[i];
  }
  return rows || columns;
}

namespace {

/// The largest element of |T| |T^-1|, T lower with `lines` lines and element (i, j) at(i, j).
template <class At>
double condition_of_lower(std::int64_t lines, const At& at) {
  double largest = 1;
  std::vector<double> column(lines);  // of the inverse
  for (std::int64_t j = 0; j < lines; ++j) {
    for (std::int64_t i = j; i < lines; ++i) {
      double x = i == j ? 1 : 0;
      for (std::int64_t k = j; k < i; ++k) x -= at(i, k) * column[k];
      column[i] = x / at(i, i);
      double sum = 0;
      for (std::int64_t k = j; k <= i; ++k) sum += std::abs(at(i, k) * column[k]);
      largest = std::max(largest, sum);
    }
  }
  return largest;
}

double triangle_condition(const std::vector<double>& lu, std::int64_t n) {
  double largest = 1;
  for (std::int64_t first = 0; first < n; first += solve_edge) {
    const std::int64_t lines = std::min<std::int64_t>(solve_edge, n - first);
    const auto element = [&](std::int64_t i, std::int64_t j) {
      return lu[(first + i) * n + first + j];
    };
    largest = std::max(largest, condition_of_lower(lines, [&](std::int64_t i, std::int64_t j) {
                         return i == j ? 1.0 : element(i, j);
                       }));
    // U's transpose.
    largest = std::max(largest, condition_of_lower(lines, [&](std::int64_t i, std::int64_t j) {
                         return element(j, i);
                       }));
  }
  return largest;
}

}  // namespace

Trial trial_of(const HostMatrix& matrix) {
  if (is_dominant(matrix)) return {};
  const std::int64_t n = matrix.n;
  if (n > largest_trial) {
    return {fmt::format(
        "the matrix is not diagonally dominant; a trial of elimination without pivoting is made up "
        "to order {} only",
        largest_trial)};
  }
  double largest = 0;
  for (const float a : matrix.elements) largest = std::max(largest, std::abs(double{a}));
  const std::vector<double> lu = reference(matrix);
  for (std::int64_t k = 0; k < n; ++k) {
    const double pivot = std::abs(lu[k * n + k]);
    // A pivot that is rounding error of fp64 only: the matrix is singular, or needs pivoting.
    if (!std::isfinite(pivot) || pivot <= std::ldexp(largest, -40)) {
      return {fmt::format(
          "elimination without pivoting meets a zero pivot in row {}: the matrix is singular or "
          "needs pivoting",
          k + 1)};
    }
    double terms = pivot;  // (|L| |U|)(k, k)
    for (std::int64_t p = 0; p < k; ++p) terms += std::abs(lu[k * n + p] * lu[p * n + k]);
    if (pivot <= std::ldexp(terms, -24)) {
      return {fmt::format(
          "the pivot of row {} is {:.2g}, what is left of numbers of {:.2g}, and less than an fp32 "
          "rounding of these: the matrix is nearly singular or needs pivoting",
          k + 1, pivot, terms)};
    }
  }
  // |L| |U| is at most n times max |L| max |U|, a bound too coarse to refuse with: rows of U and L.
  double growth = 0;
#pragma omp parallel for reduction(max : growth)
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> sums(n);
    for (std::int64_t k = 0; k <= i; ++k) {
      const double l = k == i ? 1 : std::abs(lu[i * n + k]);
      for (std::int64_t j = k; j < n; ++j) sums[j] += l * std::abs(lu[k * n + j]);
    }
    for (std::int64_t j = 0; j < n; ++j) growth = std::max(growth, sums[j] / largest);
  }
  if (growth > largest_growth) {
    return {fmt::format(
        "the matrix is not diagonally dominant, and elements grow {:.3g}-fold in elimination "
        "without pivoting (at most {:.0f} is accepted): it needs pivoting",
        growth, largest_growth)};
  }
  return {std::nullopt, triangle_condition(lu, n)};
}

}  // namespace amasia::lud
