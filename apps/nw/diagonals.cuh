// The original schedule (Rodinia), the `iso` config of every variant: a launch per anti-diagonal of
// tiles, a block of 16 threads per tile, in the tile a barrier per anti-diagonal of cells. Variants
// bring their own kernel; the tile and the launches are here.
#pragma once

#include <tuple>

#include "apps/nw/geometry.hpp"
#include "apps/nw/kernel.cuh"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"

namespace amasia::nw {

/// What a kernel takes besides its run: nothing. (tma: tensor maps.)
struct NoArguments {
  std::tuple<> operator()(const Problem&) const { return {}; }
};

/// One launch.
struct DiagonalRun {
  Grid<const int> ref;
  Grid<int> score;
  int penalty = 0;
  std::int64_t first_column = 0;  // tile column of the first tile
  std::int64_t diagonal = 0;      // sum of tile column and tile row (of clusters)
};

using Iso = Diagonals<>;

/// A tile: where it is and its scores, with the row above and the column to the left.
struct Tile16 {
  static constexpr int n = Iso::tile;
  std::int64_t row, column;  // of its first cell
  int rows, columns;         // of it that lie in the grid

  __device__ Tile16(const DiagonalRun& run, std::int64_t tile_row, std::int64_t tile_column)
      : row(tile_row * n), column(tile_column * n) {
    rows = static_cast<int>(run.ref.rows - row < n ? run.ref.rows - row : n);
    columns = static_cast<int>(run.ref.columns - column < n ? run.ref.columns - column : n);
  }
};

/// Scores of a tile in shared memory; [0] is the row above, [..][0] the column to the left.
using Scores = int[Iso::tile + 1][Iso::tile + 1];

/// The thread's elements of the column to the left and of the row above, and the corner. All three
/// are asked for before any is used, and without a branch around a load: one latency, not three.
struct Borders {
  int left, above, corner;

  /// `above_is_there`: false where another block hands the row above over.
  __device__ Borders(const DiagonalRun& run, const Tile16& tile, bool above_is_there = true) {
    const int t = threadIdx.x;
    const bool has_left = tile.column > 0 && t < tile.rows;
    const bool has_above = tile.row > 0 && t < tile.columns && above_is_there;
    // A cluster's lower tile may lie below the grid.
    const bool has_corner = tile.column > 0 && tile.row > 0 && tile.rows > 0;
    const int* const any = run.score.data;
    left = *(has_left ? &run.score.at(tile.row + t, tile.column - 1) : any);
    above = *(has_above ? &run.score.at(tile.row - 1, tile.column + t) : any);
    corner = *(has_corner ? &run.score.at(tile.row - 1, tile.column - 1) : any);
    if (!has_left) left = border(tile.row + t + 1, run.penalty);
    if (!has_above) above = border(tile.column + t + 1, run.penalty);
    if (!has_corner) corner = border(tile.row == 0 ? tile.column : tile.row, run.penalty);
  }
  __device__ void store_left(Scores& scores, const Tile16& tile) const {
    const int t = threadIdx.x;
    if (t < tile.rows) scores[t + 1][0] = left;
    if (t == 0) scores[0][0] = corner;
  }
  __device__ void store(Scores& scores, const Tile16& tile) const {
    store_left(scores, tile);
    if (static_cast<int>(threadIdx.x) < tile.columns) scores[0][threadIdx.x + 1] = above;
  }
};

/// The tile, a column per thread. `ref` is what strategies differ in: ref.ready(d) is called by all
/// threads before anti-diagonal d, ref.at(r) by a thread for its own column.
template <class Ref>
__device__ __forceinline__ void sweep(Scores& scores, Ref& ref, int penalty) {
  constexpr int n = Iso::tile;
  const int t = threadIdx.x;
  for (int d = 0; d < 2 * n - 1; ++d) {
    ref.ready(d);
    const int r = d - t;
    if (r >= 0 && r < n) {
      scores[r + 1][t + 1] =
          cell(scores[r][t], scores[r][t + 1], scores[r + 1][t], ref.at(r), penalty);
    }
    __syncthreads();
  }
}

/// Scores to global memory, a row of the tile at a time.
__device__ inline void store_scores(const Scores& scores, const DiagonalRun& run,
                                    const Tile16& tile) {
  const int t = threadIdx.x;
  int* to = &run.score.at(tile.row, tile.column + t);
#pragma unroll
  for (int r = 0; r < Iso::tile; ++r) {
    if (r < tile.rows && t < tile.columns) to[r * run.score.pitch] = scores[r + 1][t + 1];
  }
}

/// A ref tile that is wholly in shared memory before the first cell.
struct WholeRef {
  const int (&ref)[Iso::tile][Iso::tile];
  __device__ void ready(int) {}
  __device__ int at(int r) const { return ref[r][threadIdx.x]; }
};

/// The iso config of a kernel: all launches of a run.
template <class D = Iso, class Kernel, class Arguments = NoArguments>
ConfigOf<Problem> diagonals_config(Kernel kernel, std::size_t bytes_in_flight,
                                   Arguments arguments = {}) {
  ConfigOf<Problem> config;
  config.info = {
      "iso",
      {{"tile", D::tile}, {"threads", D::threads}, {"cluster", D::cluster}},
      {{reinterpret_cast<const void*>(kernel), D::threads, 0, D::cluster, bytes_in_flight}}};
  config.prepare = [kernel, arguments](const Problem& p, const Device&) -> Launch {
    LaunchShape shape;
    shape.block = dim3(D::threads);
    shape.cluster_blocks = D::cluster;
    allow_launch(reinterpret_cast<const void*>(kernel), shape);
    return [=, extra = arguments(p)](Stream stream) {
      LaunchShape now = shape;
      const std::int64_t rows = p.ref.rows, columns = p.ref.columns;
      for (std::int64_t d = 0; d < D::launches(rows, columns); ++d) {
        const DiagonalRun run{p.ref, p.score, p.penalty, D::first(d, rows), d};
        now.grid = dim3(static_cast<unsigned>(D::count(d, rows, columns) * D::cluster));
        std::apply([&](const auto&... more) { launch(kernel, now, stream, run, more...); }, extra);
      }
    };
  };
  return config;
}

}  // namespace amasia::nw
