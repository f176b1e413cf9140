// transpose: every matrix of a batch is transposed. They are small, 32 x 32 or 64 x 64 numbers, and
// lie behind each other.
//
//   for each matrix b, row i, column j:
//     out(b, j, i) = in(b, i, j)
#pragma once

#include <cstdint>

#include "inputs/random.hpp"
#include "variants/host_device.hpp"

namespace amasia::transpose {

struct Problem {
  const float* in = nullptr;  // (count, n, n)
  float* out = nullptr;       // (count, n, n)
  std::int64_t count = 0;
  int n = 32;  // 32 or 64
};

/// 24 random bits: nearly every element is another number than what could stand for it.
AMASIA_HD inline float input_at(std::uint64_t seed, std::int64_t element) {
  return random_unit(seed, 0, static_cast<std::uint64_t>(element)) - 0.5F;
}

/// The element of the input that belongs at `element` of the output.
AMASIA_HD constexpr std::int64_t source_of(std::int64_t element, int n) {
  const std::int64_t of_matrix = element % (n * n);
  return element - of_matrix + of_matrix % n * n + of_matrix / n;
}

}  // namespace amasia::transpose
