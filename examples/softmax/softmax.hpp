// softmax: every row of a matrix becomes shares of 1, by the exponential of its elements.
//
//   for each row r:
//     m = max over c of in(r, c)
//     s = sum over c of exp(in(r, c) - m)
//     out(r, c) = exp(in(r, c) - m) / s
#pragma once

#include <cstdint>

#include "inputs/random.hpp"
#include "variants/geometry/tile.hpp"
#include "variants/host_device.hpp"

namespace amasia::softmax {

constexpr std::int64_t most_columns = 16384;

/// The padding behind a row's last element is minus infinity, whose exponential is nothing: a
/// chunk of 16 bytes that a row ends in counts as it lies there.
struct Problem {
  Grid<const float> in;
  Grid<float> out;

  AMASIA_HD int row_chunks() const { return static_cast<int>((in.columns + 3) / 4); }
};

/// Element of a row in [-8, 8), and each row moved by a number of its own that is far from 0 in
/// some: without the maximum taken off, exponentials would leave the range of fp32. Rounded once,
/// in the sum, so that host and device have the same, with fused multiply-adds or without.
AMASIA_HD inline float input_at(std::uint64_t seed, std::int64_t row, std::int64_t columns,
                                std::int64_t column) {
  const auto r = static_cast<std::uint64_t>(row), i = static_cast<std::uint64_t>(column);
  const float shift = static_cast<float>(random_below(seed, 1, r, 401)) - 208;
  return shift + 16 * random_unit(seed, 0, r * static_cast<std::uint64_t>(columns) + i);
}

/// The largest relative error of a result. At a distance of 16 from the maximum __expf is wrong by
/// at most 20 units in the last place (CUDA Programming Guide: 2 + 1.17 |x|). A result has two such
/// errors. The difference from the maximum adds 8 to each where it is not exact, sum and division
/// add a few. A missing chunk of a row of 16384 elements is mostly worth more than 10 times this.
constexpr double relative_bound = 64 * 0x1p-23;

}  // namespace amasia::softmax
