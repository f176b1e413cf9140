// convolution_1d: every row of a matrix is convolved with the same filter of 17 taps.
//
//   for each row r, column c:
//     sum = 0
//     for k = 0 ... 16:  sum = fma(filter[k], in(r, c + k - 8), sum)
//     out(r, c) = sum                                  // outside the row `in` is zero
#pragma once

#include <cmath>
#include <cstdint>

#include "inputs/random.hpp"
#include "variants/geometry/tile.hpp"
#include "variants/host_device.hpp"

namespace amasia::convolution_1d {

constexpr int radius = 8;
constexpr int taps = 2 * radius + 1;

struct Filter {
  float tap[taps];
};

/// Rows lie behind each other with at least `radius` zeros between them, and before the first: a
/// window that hangs over the end of a row finds them where it looks, and nobody asks where a row
/// ends. Behind the last row there is room for a tile.
struct Problem {
  Grid<const float> in;
  Grid<float> out;
  Filter filter;
};

/// Elements from a row to the next, a multiple of 128 bytes.
AMASIA_HD constexpr std::int64_t pitch_of(std::int64_t columns) {
  return padded_pitch<float>(columns + radius);
}

/// In [-1, 1): of both signs, so that sums do not hide an error in a small difference.
AMASIA_HD inline float input_at(std::uint64_t seed, std::int64_t element) {
  return 2 * random_unit(seed, 0, static_cast<std::uint64_t>(element)) - 1;
}
inline Filter filter_of(std::uint64_t seed) {
  Filter f{};
  for (int k = 0; k < taps; ++k) {
    f.tap[k] = 0.25F + random_unit(seed, 1, static_cast<std::uint64_t>(k));
  }
  return f;
}

/// One result: the sum in the order that all strategies keep, so that all round alike.
template <class In>
AMASIA_HD float convolved(const Filter& f, In in) {
  float sum = 0;
  for (int k = 0; k < taps; ++k) sum = fmaf(f.tap[k], in(k - radius), sum);
  return sum;
}

}  // namespace amasia::convolution_1d
