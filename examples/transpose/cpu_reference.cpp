#include "cpu_reference.hpp"

#include <string>

namespace amasia::transpose {

std::vector<float> reference_matrix(std::uint64_t seed, std::int64_t matrix, int n) {
  const auto rows = static_cast<std::size_t>(n);
  std::vector<float> out(rows * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < rows; ++j) {
      const auto row = matrix * n + static_cast<std::int64_t>(i);
      out[j * rows + i] = input_at(seed, row * n + static_cast<std::int64_t>(j));
    }
  }
  return out;
}

Verdict check_reference_matrices(std::uint64_t seed, std::int64_t count, int n) {
  Verdict v;
  v.norm = "exact";
  v.checked = count * n * n;
  for (std::int64_t b = 0; b < count; ++b) {
    const std::vector<float> got = reference_matrix(seed, b, n);
    for (int e = 0; e < n * n; ++e) {
      if (got[static_cast<std::size_t>(e)] == input_at(seed, source_of(b * n * n + e, n))) continue;
      if (++v.mismatches <= 5) {
        v.first_mismatches.push_back("matrix " + std::to_string(b) + ", element " +
                                     std::to_string(e));
      }
    }
  }
  v.error = static_cast<double>(v.mismatches);
  v.passed = v.mismatches == 0;
  return v;
}

}  // namespace amasia::transpose
