#include "cpu_reference.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

namespace amasia::softmax {

std::vector<double> reference_row(std::uint64_t seed, std::int64_t row, std::int64_t columns) {
  std::vector<double> out(static_cast<std::size_t>(columns));
  for (std::int64_t c = 0; c < columns; ++c) {
    out[static_cast<std::size_t>(c)] = double{input_at(seed, row, columns, c)};
  }
  const double maximum = *std::max_element(out.begin(), out.end());
  for (double& x : out) x = std::exp(x - maximum);
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& x : out) x /= sum;
  return out;
}

Verdict check_reference_rows(std::uint64_t seed, std::int64_t rows, std::int64_t columns) {
  Verdict v;
  v.norm = "max relative error";
  v.bound = 1e-12;
  v.checked = rows * columns;
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::vector<double> got = reference_row(seed, r, columns);
    // Without a maximum: exponents of the row are within the range of fp64.
    double sum = 0;
    for (std::int64_t c = columns - 1; c >= 0; --c) {
      sum += std::exp(double{input_at(seed, r, columns, c)});
    }
    const double log_of_sum = std::log(sum);
    for (std::int64_t c = 0; c < columns; ++c) {
      const double expected = std::exp(double{input_at(seed, r, columns, c)} - log_of_sum);
      const double error = std::fabs(got[static_cast<std::size_t>(c)] - expected) / expected;
      v.error = std::max(v.error, error);
      if (error <= v.bound) continue;
      if (++v.mismatches <= 5) {
        v.first_mismatches.push_back("row " + std::to_string(r) + ", column " + std::to_string(c) +
                                     ": got " + std::to_string(got[static_cast<std::size_t>(c)]) +
                                     ", expected " + std::to_string(expected));
      }
    }
  }
  v.passed = v.mismatches == 0;
  return v;
}

}  // namespace amasia::softmax
