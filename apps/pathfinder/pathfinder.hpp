// pathfinder: the cheapest way down a grid, one row at a time (Rodinia's PathFinder): dynamic
// programming in which every row waits for the one before it.
//
//   cost(0, j) = wall(0, j)
//   for i in 1 .. rows-1, for j in 0 .. cols-1
//     cost(i, j) = wall(i, j) + min(cost(i-1, j-1), cost(i-1, j), cost(i-1, j+1))   inside the grid
//   result = cost(rows-1, *)
//
// One comparison of three and one addition per cell for four bytes read once: bound by memory when
// the grid is wide, by the length of the row-to-row chain when it is tall.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::pathfinder {

/// Walls that are generated are 0 ... highest_wall, as in Rodinia.
inline constexpr int highest_wall = 9;

/// No wall is higher than this, or lower than its negative. Kernels put it where they compute
/// beyond the grid's edge: a way around outside is then never cheaper than staying at the edge.
inline constexpr int outside_wall = (1 << 23) - 1;

/// A cost no path reaches: every path stays below it, which largest_wall() sees to. Below this come
/// the 128 rows of outside_wall that a kernel may add before it cuts costs back to it.
inline constexpr int unreachable = 1 << 30;

/// The largest magnitude of a wall in a grid of `rows` rows: no sum of walls along a path leaves
/// -unreachable ... unreachable. 0 when the grid has too many rows for any wall.
constexpr std::int64_t largest_wall(std::int64_t rows) {
  const std::int64_t by_rows = (unreachable - 1) / rows;
  return by_rows < outside_wall ? by_rows : outside_wall;
}

/// What the pad between a row's last cell and the next row holds. It is part of the input and
/// readable, and lower than any wall, so that a kernel that walks on it gets a wrong answer.
inline constexpr int pad_wall = -(1 << 28);

/// Where blocks of one persistent launch leave the costs that their neighbours need. A word holds a
/// cost (low half) and the epoch it belongs to (high half): 8-byte accesses are atomic, so a reader
/// that sees the epoch has the cost and no flag or fence is needed. Epochs never repeat from run to
/// run: the last block of a run moves `clock[0]` on.
struct Exchange {
  unsigned long long* words = nullptr;  // (2, columns): epochs alternate; nullptr when too wide
  std::int64_t columns = 0;             // words per epoch
  unsigned* clock = nullptr;  // [0] epochs used by earlier runs, [1] blocks done in this one
};

/// Grids wider than this are always computed in several launches: no GPU holds their windows at
/// once.
inline constexpr std::int64_t widest_exchange = std::int64_t{1} << 23;

/// What a variant works on; device pointers. `wall` is read only. A run ends with cost(rows-1, *)
/// in `result` and may use `scratch` and `exchange`. Both rows have wall.pitch elements, so that a
/// bulk copy can take whole 16-byte pieces of them; the pad of `result` is not part of the answer.
struct Problem {
  Grid<const int> wall;
  int* result = nullptr;
  int* scratch = nullptr;
  Exchange exchange;
};

const std::vector<ParameterSpec>& parameter_specs();

/// Bytes of device memory of one instance. Throws UsageError when they do not fit in 63 bits, and
/// when a path down so many rows might cost more than 32 bits hold.
std::int64_t device_bytes(std::int64_t rows, std::int64_t cols);

}  // namespace amasia::pathfinder
