// Which tiles of C, and which slices of their sums, a block computes: plain arithmetic, the same on
// host and device.
#pragma once

#include <cstdint>

#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::matrix {

struct TilePlace {
  int row, column;  // in tiles
};

/// Rows of C whose tiles are walked together. The blocks that run at one time then cover a
/// rectangle about as tall as it is wide (132 SMs with a tile of 32768 elements each: 2080 x 2080),
/// which lets the least of A and B pass through the L2.
inline constexpr int rows_walked_together = 2048;

/// The t-th tile of rows x columns tiles: down a group of `group` rows, then one column on.
AMASIA_HD constexpr TilePlace tile_place(std::int64_t t, int rows, int columns, int group) {
  const std::int64_t per_group = std::int64_t{group} * columns;
  const int first = static_cast<int>(t / per_group) * group;
  const int rest = static_cast<int>(t % per_group);
  const int height = rows - first < group ? rows - first : group;
  return {first + rest % height, rest / height};
}

/// First, first + 1, ... end - 1: slices of a sum, or places of its pieces.
struct Range {
  int first = 0, end = 0;
};

/// Where a worker of a walk is: a slice of a step.
template <class Step>
struct WalkPosition {
  Step step;
  int slice = 0;

  template <class Walk>
  AMASIA_HD constexpr WalkPosition(const Walk&, Step first_step) : step(first_step) {}
  template <class Walk>
  AMASIA_HD constexpr bool more(const Walk& walk) const {
    return walk.has(step);
  }
  /// To the next slice. True when it belongs to another step.
  template <class Walk>
  AMASIA_HD constexpr bool advance(const Walk& walk, Step workers) {
    if (++slice < walk.slices) return false;
    slice = 0;
    step += workers;
    return true;
  }
};

/// The tiles of C and the slices of their sums, as a cluster of `cluster` blocks one below the
/// other walks them. With one block a cluster is a block. A walking cluster, a worker, begins at
/// the step of its number and goes on by the number of workers.
struct Walk {
  using Step = std::int64_t;
  int rows = 0, columns = 0;  // of tiles; rows a multiple of `cluster`
  int slices = 0;
  int cluster = 1;
  int group = 1;  // clusters that are walked together, one below the other

  Walk() = default;
  AMASIA_HD constexpr Walk(std::int64_t m, std::int64_t n, std::int64_t k, int tile_m, int tile_n,
                           int tile_k, int blocks_of_cluster)
      : rows(static_cast<int>(round_up(ceil_div(m, tile_m), blocks_of_cluster))),
        columns(static_cast<int>(ceil_div(n, tile_n))),
        slices(static_cast<int>(ceil_div(k, tile_k))),
        cluster(blocks_of_cluster),
        group(rows_walked_together / (tile_m * blocks_of_cluster)) {}
  /// Steps of the walk: tiles, or columns of `cluster` tiles.
  AMASIA_HD constexpr std::int64_t steps() const { return std::int64_t{rows / cluster} * columns; }
  AMASIA_HD constexpr bool has(std::int64_t step) const { return step < steps(); }
  AMASIA_HD constexpr Range run(std::int64_t) const { return {0, slices}; }
  AMASIA_HD constexpr TilePlace place(std::int64_t step, int rank) const {
    const TilePlace p = tile_place(step, rows / cluster, columns, group);
    return {p.row * cluster + rank, p.column};
  }

  using Position = WalkPosition<Step>;
};

}  // namespace amasia::matrix
