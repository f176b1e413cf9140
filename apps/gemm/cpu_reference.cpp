#include "apps/gemm/cpu_reference.hpp"

#include <cmath>

#include <fmt/format.h>

#include "apps/common/max_norm.hpp"

namespace amasia::gemm {
namespace {

std::vector<double> input(const Parameters& p, std::uint64_t seed, int which, std::int64_t rows,
                          std::int64_t columns) {
  const Mode mode = mode_of(p);
  std::vector<double> x(
      static_cast<std::size_t>(checked_product({rows, columns}, "rows x columns")));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      x[i * columns + j] = input_element(seed, which, mode, columns, i, j);
    }
  }
  return x;
}

// The second reference: rows of C as sums of rows of B, where the first one takes dot products; and
// the terms in the opposite order.
std::vector<Sums> reference_by_rows(const Parameters& p, std::uint64_t seed) {
  const std::int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k");
  const std::vector<double> a = input(p, seed, 0, m, k), b = input(p, seed, 1, k, n);
  std::vector<Sums> c(static_cast<std::size_t>(m * n));
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t q = k - 1; q >= 0; --q) {
      for (std::int64_t j = 0; j < n; ++j) {
        const double term = a[i * k + q] * b[q * n + j];
        c[i * n + j].value += term;
        c[i * n + j].scale += term * term;
      }
    }
  }
  for (Sums& sum : c) sum.scale = std::sqrt(sum.scale);
  return c;
}

}  // namespace

std::vector<Sums> reference(const Parameters& p, std::uint64_t seed) {
  const std::int64_t m = p.integer("m"), n = p.integer("n"), k = p.integer("k");
  const std::vector<double> a = input(p, seed, 0, m, k), b = input(p, seed, 1, k, n);
  std::vector<Sums> c(static_cast<std::size_t>(m * n));
#pragma omp parallel for
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Sums& sum = c[i * n + j];
      for (std::int64_t q = 0; q < k; ++q) {
        const double term = a[i * k + q] * b[q * n + j];
        sum.value += term;
        sum.scale += term * term;
      }
      sum.scale = std::sqrt(sum.scale);
    }
  }
  return c;
}

double error_bound(Mode mode, std::int64_t k) {
  const auto terms = static_cast<double>(k);
  if (mode == Mode::fp32 || mode == Mode::tf32x3) return std::ldexp(8 + 12 * std::sqrt(terms), -24);
  if (mode == Mode::e4m3) return std::ldexp(16 + 9 * std::sqrt(terms) + 0.02 * terms, -14);
  return std::ldexp(32 + (mode == Mode::bf16 ? 0.35 : 0.7) * terms, -24);
}

double rms_bound(Mode mode, std::int64_t k) { return error_bound(mode, k) / 5; }

Verdict with_rms(Verdict verdict, double rms, Mode mode, std::int64_t k) {
  const double bound = rms_bound(mode, k);
  if (!verdict.passed || rms <= bound) return verdict;
  verdict.passed = false;
  verdict.norm = rms_norm;
  verdict.error = rms;
  verdict.bound = bound;
  verdict.first_mismatches = {
      fmt::format("no element is far off, but all together are: {} {:.3g}, accepted {:.3g}",
                  rms_norm, rms, bound)};
  return verdict;
}

Verdict compare(const float* got, std::int64_t pitch, const Parameters& p,
                const std::vector<Sums>& expected) {
  const std::int64_t m = p.integer("m"), n = p.integer("n");
  const Mode mode = mode_of(p);
  const std::int64_t k = p.integer("k");
  Verdict v{true, error_norm, 0, error_bound(mode, k), m * n, 0};
  double squares = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const Sums& sum = expected[i * n + j];
      const double c = got[i * pitch + j];
      const double error = c == sum.value ? 0 : std::abs(c - sum.value) / sum.scale;
      squares += error * error;
      count_element(v, error, [&] {
        return fmt::format("({}, {}): got {:.9g}, expected {:.9g}", i, j, c, sum.value);
      });
    }
  }
  v.passed = v.mismatches == 0;
  return with_rms(v, std::sqrt(squares / static_cast<double>(m * n)), mode, k);
}

Verdict check_references(const Parameters& p, std::uint64_t seed) {
  const std::vector<Sums> first = reference(p, seed), second = reference_by_rows(p, seed);
  const std::int64_t k = p.integer("k");
  Verdict v{true,
            "max |difference of the two references| / sqrt(sum (ab)^2)",
            0,
            0,
            static_cast<std::int64_t>(first.size()),
            0};
  v.bound = std::ldexp(4.0, -53) * static_cast<double>(k + 1);
  for (std::size_t i = 0; i < first.size(); ++i) {
    const double error = first[i].value == second[i].value
                             ? 0
                             : std::abs(first[i].value - second[i].value) / first[i].scale;
    count_element(v, error, [&] {
      return fmt::format("element {}: {:.17g} and {:.17g}", i, first[i].value, second[i].value);
    });
  }
  v.passed = v.mismatches == 0;
  return v;
}

}  // namespace amasia::gemm
