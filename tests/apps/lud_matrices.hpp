// Matrices that tests of lud make.
#pragma once

#include "apps/lud/lud.hpp"
#include "apps/lud/matrices.hpp"
#include "inputs/random.hpp"
#include "tests/test.hpp"

namespace amasia::lud {

inline HostMatrix generated(std::int64_t n, const char* input = "random", std::uint64_t seed = 7) {
  return host_matrix(Parameters(parameter_specs(), {{"n", std::to_string(n)}, {"input", input}}),
                     seed);
}

/// Elimination a step at a time. `update(c, l, u)`: what becomes of an element c of the rest.
template <class Update>
std::vector<float> eliminated(const HostMatrix& m, Update update) {
  std::vector<float> lu = m.elements;
  for (std::int64_t k = 0; k < m.n; ++k) {
    for (std::int64_t i = k + 1; i < m.n; ++i) {
      const float l = lu[i * m.n + k] /= lu[k * m.n + k];
      for (std::int64_t j = k + 1; j < m.n; ++j) {
        lu[i * m.n + j] = update(lu[i * m.n + j], l, lu[k * m.n + j]);
      }
    }
  }
  return lu;
}
/// In fp32: what the strategies are to be as good as.
inline std::vector<float> eliminated(const HostMatrix& m) {
  return eliminated(m, [](float c, float l, float u) { return std::fma(-l, u, c); });
}

/// A product of triangles of uniform(0, 1), L's diagonal one, as Rodinia's files of matrices are:
/// condition 1e9 and more. Two right decompositions differ in every digit.
inline HostMatrix product_of_triangles(std::int64_t n, std::uint64_t seed) {
  HostMatrix m{n, {}};
  const auto element = [seed, n](std::uint64_t of, std::int64_t i, std::int64_t j) {
    return double{random_unit(seed, of, static_cast<std::uint64_t>(i * n + j))};
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k <= std::min(i, j); ++k) {
        sum += (k == i ? 1 : element(0, i, k)) * element(1, k, j);
      }
      m.elements.push_back(static_cast<float>(sum));
    }
  }
  return m;
}

}  // namespace amasia::lud
