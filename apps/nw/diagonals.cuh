// The schedules `iso` and `iso-pairs`: a launch per anti-diagonal of tiles (or of columns of two
// tiles), a block of 16 threads for each, in a tile a barrier per anti-diagonal of cells. Variants
// bring their own kernel, which differs in how ref gets to shared memory; the rest is here.
#pragma once

#include <string>
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
  std::int64_t first_column = 0;  // tile column of the first block
  std::int64_t diagonal = 0;      // sum of tile column and row of (columns of) tiles
};

inline constexpr int tile16 = 16;            // cells a side, and threads of a block
using RefTile = int[tile16][tile16];         // shared memory: ref of a tile
using Scores = int[tile16 + 1][tile16 + 1];  // [0] is the row above, [..][0] the column to the left

/// A tile: where it is, and how much of it lies in the grid.
struct Tile16 {
  std::int64_t row, column;  // of its first cell
  int rows, columns;         // of it that lie in the grid; not positive: none

  __device__ Tile16(const DiagonalRun& run, std::int64_t tile_row, std::int64_t tile_column)
      : row(tile_row * tile16), column(tile_column * tile16) {
    rows = static_cast<int>(run.ref.rows - row < tile16 ? run.ref.rows - row : tile16);
    columns =
        static_cast<int>(run.ref.columns - column < tile16 ? run.ref.columns - column : tile16);
  }
  __device__ TileOrigin origin() const { return {row, column}; }
};

/// The n-th of the tiles, one below the other, that this block has.
template <class Schedule>
__device__ Tile16 tile_of_block(const DiagonalRun& run, int n) {
  const std::int64_t column = run.first_column + blockIdx.x;
  return {run, (run.diagonal - column) * Schedule::tiles + n, column};
}

/// The thread's elements of the columns to the left of TILES tiles and of the row above the first,
/// and the corner. All are asked for before any is used, and without a branch around a load: one
/// latency, not three.
template <int TILES = 1>
struct Borders {
  int left[TILES], above, corner;

  /// `above_is_there`, `left_is_there`: false where another block hands them over.
  __device__ Borders(const DiagonalRun& run, const Tile16& tile, bool above_is_there = true,
                     bool left_is_there = true) {
    const int t = threadIdx.x;
    const int* const any = run.score.data;
    const std::int64_t rows_below = run.ref.rows - tile.row;
    bool has_left[TILES];
#pragma unroll
    for (int n = 0; n < TILES; ++n) {
      const int r = n * tile16 + t;
      has_left[n] = tile.column > 0 && r < rows_below && left_is_there;
      left[n] = *(has_left[n] ? &run.score.at(tile.row + r, tile.column - 1) : any);
    }
    const bool has_above = tile.row > 0 && t < tile.columns && above_is_there;
    // A cluster's lower tile may lie below the grid.
    const bool has_corner = tile.column > 0 && tile.row > 0 && tile.rows > 0;
    above = *(has_above ? &run.score.at(tile.row - 1, tile.column + t) : any);
    corner = *(has_corner ? &run.score.at(tile.row - 1, tile.column - 1) : any);
#pragma unroll
    for (int n = 0; n < TILES; ++n) {
      if (!has_left[n]) left[n] = border(tile.row + n * tile16 + t + 1, run.penalty);
    }
    if (!has_above) above = border(tile.column + t + 1, run.penalty);
    if (!has_corner) corner = border(tile.row == 0 ? tile.column : tile.row, run.penalty);
  }
  __device__ void store_left(Scores& scores) const {
    scores[threadIdx.x + 1][0] = left[0];
    if (threadIdx.x == 0) scores[0][0] = corner;
  }
  __device__ void store(Scores& scores) const {
    store_left(scores);
    scores[0][threadIdx.x + 1] = above;
  }
  /// From the tile above, whose scores these are, to the n-th.
  __device__ void go_down(Scores& scores, int n) const {
    const int t = threadIdx.x;
    const int last_row = scores[tile16][t + 1], last_left = scores[tile16][0];
    __syncthreads();  // all have read what is now overwritten
    scores[0][t + 1] = last_row;
    scores[t + 1][0] = left[n];
    if (t == 0) scores[0][0] = last_left;
    __syncthreads();
  }
};

/// The tile, a column per thread. `ref` is what strategies differ in: ref.consumer_wait(d) is
/// called by all threads before anti-diagonal d, ref.at(r) by a thread for its own column.
template <class Ref>
__device__ __forceinline__ void sweep(Scores& scores, Ref& ref, int penalty) {
  constexpr int n = tile16;
  const int t = threadIdx.x;
  for (int d = 0; d < 2 * n - 1; ++d) {
    ref.consumer_wait(d);
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
  for (int r = 0; r < tile16; ++r) {
    if (r < tile.rows && t < tile.columns) to[r * run.score.pitch] = scores[r + 1][t + 1];
  }
}

/// A ref tile that is wholly in shared memory before the first cell.
struct WholeRef {
  const RefTile& ref;
  __device__ void consumer_wait(int) {}
  __device__ int at(int r) const { return ref[r][threadIdx.x]; }
};

/// What a block of 16 threads needs where nothing more is in flight than its own tiles.
template <class Schedule>
struct TileSharedStorage {
  alignas(128) RefTile ref[Schedule::tiles];
  Scores scores;
};

/// Main loop of most variants: the tiles of a block from top to bottom. `ref_of(n)` is where the
/// ref of tile n comes from; `store(n, tile)` takes its scores away.
template <class Schedule, class RefOf, class Store>
__device__ __forceinline__ void sweep_tiles(const DiagonalRun& run, Scores& scores,
                                            const Borders<Schedule::tiles>& borders, RefOf ref_of,
                                            Store store) {
#pragma unroll
  for (int n = 0; n < Schedule::tiles; ++n) {
    const Tile16 tile = tile_of_block<Schedule>(run, n);
    if (n > 0) {
      if (tile.rows <= 0) break;
      borders.go_down(scores, n);
    }
    auto ref = ref_of(n);
    sweep(scores, ref, run.penalty);
    store(n, tile);
  }
}

using Movement = std::vector<std::pair<std::string, std::int64_t>>;

/// A config of these schedules: all launches of a run. `movement_name` may be empty. CLUSTER
/// neighbouring blocks of a launch are a cluster.
template <class Schedule, class Kernel, class Arguments = NoArguments>
ConfigOf<Problem> diagonals_config(const std::string& movement_name, Kernel kernel,
                                   Movement movement, std::size_t bytes_in_flight,
                                   Arguments arguments = {}, int cluster = 1,
                                   int blocks_per_column = 1) {
  using D = Diagonals<Schedule>;
  ConfigOf<Problem> config;
  const auto* function = reinterpret_cast<const void*>(kernel);
  config.info.name =
      std::string(Schedule::name) + (movement_name.empty() ? "" : "/") + movement_name;
  config.info.geometry = {
      {"tile", D::tile}, {"tiles", D::tiles}, {"threads", D::threads}, {"cluster", cluster}};
  config.info.kernels = {{function, D::threads, 0, cluster, bytes_in_flight}};
  config.info.schedule = Schedule::name;
  config.info.movement = std::move(movement);
  config.prepare = [=](const Problem& p, const Device&) -> Launch {
    LaunchShape shape;
    shape.block = dim3(D::threads);
    shape.cluster_blocks = static_cast<unsigned>(cluster);
    allow_launch(function, shape);
    return [=, extra = arguments(p)](Stream stream) {
      LaunchShape now = shape;
      const std::int64_t rows = p.ref.rows, columns = p.ref.columns;
      for (std::int64_t d = 0; d < D::launches(rows, columns); ++d) {
        const DiagonalRun run{p.ref, p.score, p.penalty, D::first(d, rows), d};
        const std::int64_t blocks = D::count(d, rows, columns) * blocks_per_column;
        now.grid = dim3(static_cast<unsigned>(round_up(blocks, cluster)));
        std::apply([&](const auto&... more) { launch(kernel, now, stream, run, more...); }, extra);
      }
    };
  };
  return config;
}

}  // namespace amasia::nw
