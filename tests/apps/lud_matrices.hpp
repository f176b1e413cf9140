// Matrices that tests of lud make.
#pragma once

#include <algorithm>
#include <cstdint>

#include "apps/lud/matrices.hpp"
#include "inputs/random.hpp"

namespace amasia::lud {

/// A product of triangles of uniform(0, 1), L's diagonal one, which Rodinia's files of matrices
/// are: condition 1e9 and more. Two right decompositions differ in every digit.
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
