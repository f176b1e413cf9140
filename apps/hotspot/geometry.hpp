// Where everything lies in all schedules (schedules.hpp): plain arithmetic, the same on host and
// device, covered by tests/apps/hotspot_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "variants/geometry/ring.hpp"
#include "variants/geometry/tile.hpp"
#include "variants/host_device.hpp"

namespace amasia::hotspot {

// The schedules iso and iso-walk, Rodinia's geometry: 16 x 16 threads, a tile of 16 x 16 cells, two
// steps per launch, so that the outer two cells of a tile are halo and a block finishes 12 x 12.

inline constexpr int tile_size = 16;
inline constexpr int pyramid_height = 2;                     // steps per launch
inline constexpr int core = tile_size - 2 * pyramid_height;  // cells a block finishes, per side
inline constexpr int tile_threads = tile_size * tile_size;

/// A tile as threads copy it: each its own cell, in each grid.
using PyramidTile = Tile<float, tile_size, tile_size, 4>;

/// `columns`: that a tile finishes.
AMASIA_HD constexpr TileOrigin pyramid_origin(std::int64_t tile_row, std::int64_t tile_column,
                                              int columns = core) {
  return {tile_row * core - pyramid_height, tile_column * columns - pyramid_height};
}

/// The tiles of one of `walkers` walkers, as iso-walk deals them out: every walkers-th, row after
/// row. The quotients are taken once, not for every tile.
struct TileWalk {
  int row, column;  // of the tile, in tiles
  int across, down;
  int rows_on, columns_on;  // from a tile to the walker's next

  AMASIA_HD constexpr TileWalk(int walker, int walkers, int tiles_across, int tiles_down)
      : row(walker / tiles_across),
        column(walker % tiles_across),
        across(tiles_across),
        down(tiles_down),
        rows_on(walkers / tiles_across),
        columns_on(walkers % tiles_across) {}
  AMASIA_HD constexpr bool done() const { return row >= down; }
  AMASIA_HD constexpr void next() {
    row += rows_on;
    column += columns_on;
    if (column >= across) {
      column -= across;
      ++row;
    }
  }
};

/// Tile rows that one launch of iso covers. A grid of blocks ends at 65,535 in y, so a grid of more
/// than 786,420 rows takes several launches.
struct TileRows {
  int first, count;
};
inline constexpr int most_blocks_in_y = 65535;
inline std::vector<TileRows> bands_of(std::int64_t tile_rows) {
  std::vector<TileRows> bands;
  for (std::int64_t first = 0; first < tile_rows; first += most_blocks_in_y) {
    const std::int64_t left = tile_rows - first;
    bands.push_back({static_cast<int>(first),
                     static_cast<int>(left < most_blocks_in_y ? left : most_blocks_in_y)});
  }
  return bands;
}

/// A thread's cell in a tile, and how far away its neighbours are in it. A neighbour beyond the
/// edge of the grid is the cell itself; so is one beyond the tile, whose value never reaches the
/// core.
struct TileCell {
  int row;
  int column;
  int index;
  int north, south, west, east;  // offsets in the tile
  bool inside;                   // the cell lies in the grid
  bool finishes;                 // and in the core

  /// `stride` cells from one row of the tile in shared memory to the next, of which the first
  /// `shift` do not belong to the tile.
  AMASIA_HD constexpr TileCell(TileOrigin origin, unsigned thread, std::int64_t rows,
                               std::int64_t columns, int stride = tile_size, int shift = 0)
      : row(static_cast<int>(origin.row + thread / tile_size)),
        column(static_cast<int>(origin.column + thread % tile_size)),
        index(static_cast<int>(thread / tile_size) * stride + static_cast<int>(thread % tile_size) +
              shift),
        north(thread / tile_size > 0 && row > 0 ? -stride : 0),
        south(thread / tile_size < tile_size - 1 && row < static_cast<int>(rows) - 1 ? stride : 0),
        west(thread % tile_size > 0 && column > 0 ? -1 : 0),
        east(thread % tile_size < tile_size - 1 && column < static_cast<int>(columns) - 1 ? 1 : 0),
        inside(static_cast<unsigned>(row) < static_cast<unsigned>(rows) &&
               static_cast<unsigned>(column) < static_cast<unsigned>(columns)),
        finishes(in_core(thread / tile_size) && in_core(thread % tile_size) && inside) {}

  static AMASIA_HD constexpr bool in_core(unsigned i) {
    return i >= pyramid_height && i < tile_size - pyramid_height;
  }
};

// The schedule 64x64: a block holds a square of 64 x 64 cells in registers, 4 x 4 per
// thread, and advances it by up to 20 steps in one launch. Neighbouring squares overlap by a halo
// of as many cells as there are steps, so a small grid, which a launch per two steps would spend
// its time on launching, is done in one.

inline constexpr int square = 64;
inline constexpr int patch = 4;                           // cells of a thread, per side
inline constexpr int patches = square / patch;            // per side
inline constexpr int square_threads = patches * patches;  // 256
inline constexpr int most_square_steps = 20;              // leaves 24 of 64 cells

/// Squares of an SM that passes are planned for, whichever strategy runs them: as many as fit with
/// the registers that the strategy with most of them needs.
inline constexpr int squares_per_sm = 3;
/// Squares of an SM that registers must allow where they can without a spill, which is everywhere
/// but in baseline: what it holds in registers, the others hold in shared memory.
inline constexpr int squares_bound = 4;

/// How squares cover one side of the grid. The first and the last lie flush with the edges, so that
/// only a grid that is smaller than a square, whose columns are no multiple of four or whose rows
/// are odd, leaves part of one outside.
struct SquareAxis {
  int extent, halo, stride, count;

  /// `halo` cells are lost at each side per pass.
  static AMASIA_HD constexpr SquareAxis of(std::int64_t extent, int halo) {
    const int n = static_cast<int>(extent);
    const int stride = square - 2 * halo;
    return {n, halo, stride, n <= square ? 1 : static_cast<int>(ceil_div(n - 2 * halo, stride))};
  }
  /// The first cell of square i; a multiple of `align` if the stride is.
  AMASIA_HD constexpr int first(int i, int align) const {
    const int last = extent > square ? static_cast<int>(round_up(extent - square, align)) : 0;
    return i * stride < last ? i * stride : last;
  }
  /// The cells that square i finishes: from begin() up to end().
  AMASIA_HD constexpr int begin(int i) const { return i == 0 ? 0 : i * stride + halo; }
  AMASIA_HD constexpr int end(int i) const {
    return i == count - 1 ? extent : (i + 1) * stride + halo;
  }
};

inline constexpr int column_halo(int steps) { return static_cast<int>(round_up(steps, patch)); }

/// Steps of a pass that make a run of `steps` shortest on a device that holds `resident` squares at
/// once. In units of one step of a square, about 0.2 us, a launch costs some ten and loading the
/// square some five.
inline int best_square_steps(std::int64_t rows, std::int64_t cols, int steps, int resident) {
  std::int64_t least = INT64_MAX;
  int best = 1;
  for (int pass = 1; pass <= most_square_steps && pass <= steps; ++pass) {
    const std::int64_t squares = std::int64_t{SquareAxis::of(rows, pass).count} *
                                 SquareAxis::of(cols, column_halo(pass)).count;
    const std::int64_t cost =
        ceil_div(steps, pass) * (10 + ceil_div(squares, resident) * (pass + 5));
    if (cost < least) {
      least = cost;
      best = pass;
    }
  }
  return best;
}

// The streaming schedules.
//
// A warp owns a window of 128 columns, four per lane, and walks down it. When row r arrives, step 1
// of row r-1 can be computed, then step 2 of row r-2, ... step STEPS of row r-STEPS. So one pass
// over memory advances the grid by STEPS time steps. Per step a row and its north pairs
// (kernel.cuh) stay in registers, and a row takes two shuffles on average. Per step a window loses
// a column on each side; `halo` of them overlap with the neighbouring windows. A grid is cut into
// chunks of rows as well, to occupy every SM; a chunk streams STEPS extra rows above and below.
//
// Edges need no case in the computation: clamping (a cell beyond the edge equals the edge cell) is
// the same as reflecting temperature and power about the edge, and the update preserves that
// symmetry, bit for bit (kernel.cuh). Only the loads know the edges: a row or column outside comes
// from its mirror image.

/// The cell inside [0, n) that index i outside mirrors: -1 -> 0, -2 -> 1, n -> n-1. Any i, n >= 1.
AMASIA_HD constexpr int mirror(int i, int n) {
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return i;
}

inline constexpr int lanes = 32;
inline constexpr int columns_per_lane = 4;               // one 16-byte access
inline constexpr int window = lanes * columns_per_lane;  // columns a warp computes

/// Rows that travel together, so that a whole number of row-blocks, and only one or two, makes up
/// the period of the register roles (Strip::unroll).
constexpr int rows_per_stage(int steps) { return steps % 5 == 0 ? 5 : 4; }

/// All rows of that period at once: 8 to 12 where a pass has so many steps.
constexpr int rows_per_period(int steps) {
  return steps % 2 == 0 ? (steps > 4 ? steps : 4) : (steps > 1 ? 2 * steps : 4);
}

enum class StageRows { one, some, period };

/// How the rows of a strip travel, with the same parameters for every strategy: through a pipeline
/// of STAGES row-blocks, copied by PRODUCERS warps that do nothing else or, if that is 0, by the
/// warps that compute.
template <int STAGES, StageRows ROWS = StageRows::some, int PRODUCERS = 0>
struct Movement {
  static constexpr int stages = STAGES;
  static constexpr int producer_warps = PRODUCERS;
  static constexpr int rows(int steps) {
    return ROWS == StageRows::one    ? 1
           : ROWS == StageRows::some ? rows_per_stage(steps)
                                     : rows_per_period(steps);
  }
};

/// A pass of STEPS steps by blocks of WARPS computing warps, BLOCKS of which an SM holds, its rows
/// carried by a movement. StripOf (below) takes these numbers from a schedule.
template <int STEPS, int WARPS, int BLOCKS, class Move, int ROWS = Move::rows(STEPS),
          bool ROLLED = false>
struct Strip {
  static constexpr int steps = STEPS;
  static constexpr int warps = WARPS;  // that compute
  static constexpr int producer_warps = Move::producer_warps;
  static constexpr int computing_threads = warps * lanes;
  static constexpr int threads = (warps + producer_warps) * lanes;
  static constexpr int blocks_per_sm = BLOCKS;  // for __launch_bounds__
  static constexpr int rows = ROWS;
  static constexpr int stages = Move::stages;
  // A window starts on a 16-byte boundary, so its halo is a multiple of four columns.
  static constexpr int halo = (STEPS + columns_per_lane - 1) / columns_per_lane * columns_per_lane;
  static constexpr int useful = window - 2 * halo;      // columns a warp finishes
  static constexpr int block_columns = warps * useful;  // columns a block finishes
  static constexpr int cluster_blocks = 1;
  static constexpr int cluster_columns = block_columns;
  static constexpr int tile_columns = block_columns + 2 * halo;
  static constexpr int tile_chunks = tile_columns / columns_per_lane;  // 16-byte chunks in a row
  // Rows that stream in before the first finished row comes out, rounded so that a row-block of
  // results is one row-block of arrivals.
  static constexpr int warm_up = static_cast<int>(round_up(2 * STEPS, rows));
  static constexpr bool rolled = ROLLED;
  // Rows after which every register is back in its role, which is how many rows of code the main
  // loop has: the rows of a step alternate between two sets, and a row-block is not left half way.
  // The power of a row serves STEPS rows, either in one place or, rolled, moving on (Cascade).
  static constexpr int unroll = ROLLED ? std::lcm(2, rows) : std::lcm(std::lcm(STEPS, 2), rows);
  // Passes that DRAM bounds have nothing to hide, and no register to spare.
  static constexpr bool reads_ahead = STEPS >= 8;
  /// The first column of a block's tile, -halo at the west edge; a lane's first column in the grid;
  /// and whether the lane's columns are finished by it rather than halo. `warp` counts within the
  /// block.
  static AMASIA_HD constexpr int first_column(int block) { return block * block_columns - halo; }
  static AMASIA_HD constexpr int lane_column(int block, int warp, int lane) {
    return first_column(block) + warp * useful + lane * columns_per_lane;
  }
  static AMASIA_HD constexpr bool lane_finishes(int lane) {
    return lane >= halo / columns_per_lane && lane < lanes - halo / columns_per_lane;
  }
  static_assert(useful > 0, "the halo leaves no column");
  static_assert(tile_chunks <= computing_threads, "a thread copies one chunk of each row");
};

/// Blocks an SM should hold: three registers per column and step, and what the schedule grants
/// beyond them. A quarter of an SM has 512 registers for each lane, and takes every fourth warp; a
/// producer warp has to be given as many registers as one that computes. The same for all
/// strategies.
template <int STEPS, class Schedule, class Move>
constexpr int blocks_per_sm() {
  constexpr int warps = Schedule::warps + Move::producer_warps;
  constexpr int registers = static_cast<int>(
      round_up(3 * columns_per_lane * STEPS + Schedule::registers_beyond_cells, 8));
  return std::max(1, std::min(4 * (512 / registers) / warps, 32 / warps));
}

template <int STEPS, class Schedule, class Move>
using StripOf = Strip<STEPS, Schedule::warps, blocks_per_sm<STEPS, Schedule, Move>(), Move,
                      Move::rows(STEPS), Schedule::rolled && (STEPS > 8)>;

/// The columns of a block's tile that lie in the grid, or in the padding that completes its last 16
/// bytes: from `begin` up to `end`, both multiples of four. A block has one at least.
struct Span {
  int begin, end;
};
template <class S>
AMASIA_HD constexpr Span columns_inside(int first_column, int grid_columns) {
  const int left = static_cast<int>(round_up(grid_columns, columns_per_lane)) - first_column;
  return {first_column < 0 ? -first_column : 0, left < S::tile_columns ? left : S::tile_columns};
}

/// dsm: the windows of the CLUSTER blocks of a cluster lie side by side. Neighbours exchange what
/// their outermost finishing lane holds after every row-block, so that a window needs one halo lane
/// per side, whatever STEPS; only the two ends of the cluster have the full halo. Wrong values
/// enter from an end of a window at one column per row: four columns last for row-blocks of four
/// rows.
template <int STEPS, int WARPS, int BLOCKS, class Move, int CLUSTER, bool ROLLED = false>
struct ClusterStrip : Strip<STEPS, WARPS, BLOCKS, Move, columns_per_lane, ROLLED> {
  using Base = Strip<STEPS, WARPS, BLOCKS, Move, columns_per_lane, ROLLED>;
  static constexpr int cluster_blocks = CLUSTER;
  static constexpr int windows = CLUSTER * Base::warps;  // of a cluster
  static constexpr int window_stride = window - 2 * columns_per_lane;
  static constexpr int cluster_columns = (windows - 1) * window_stride + window - 2 * Base::halo;

  /// As in Strip, but `in_cluster` counts the windows of the cluster.
  static AMASIA_HD constexpr int lane_column(int cluster, int in_cluster, int lane) {
    return cluster * cluster_columns - Base::halo + in_cluster * window_stride +
           lane * columns_per_lane;
  }
  static AMASIA_HD constexpr bool lane_finishes(int in_cluster, int lane) {
    const int position = in_cluster * window_stride + lane * columns_per_lane - Base::halo;
    return lane > 0 && lane < lanes - 1 && position >= 0 && position < cluster_columns;
  }
  static_assert(windows > 1, "a window with a neighbour");
  static_assert(cluster_columns > 0, "the halo leaves no column");
};

/// The rows a block streams: results [begin, end), arrivals first, first+1, ... in `blocks`
/// row-blocks.
struct RowRun {
  int begin;
  int end;
  int first;  // may be negative; the last arrivals may lie beyond the grid
  int blocks;
};

template <class S>
AMASIA_HD constexpr RowRun row_run(int chunk, int chunk_rows, int grid_rows) {
  const int begin = chunk * chunk_rows;
  const int end = chunk_rows < grid_rows - begin ? begin + chunk_rows : grid_rows;
  const int first = begin + S::steps - S::warm_up;
  return {begin, end, first, static_cast<int>(ceil_div(end + S::steps - first, S::rows))};
}

/// Cuts `grid_rows` into the number of chunks with the least waves x rows streamed per chunk, for a
/// device that holds `resident` blocks at once and a grid `blocks_across` blocks wide. Returns the
/// rows of a chunk, a multiple of S::rows and even: in which cells pairs are north + west is known
/// at compile time then.
template <class S>
constexpr int best_chunk_rows(std::int64_t grid_rows, std::int64_t blocks_across, int resident) {
  constexpr int granule = std::lcm(2, S::rows);
  std::int64_t least = INT64_MAX;
  std::int64_t best = round_up(grid_rows, granule);
  const std::int64_t most = ceil_div(grid_rows, S::rows);
  for (std::int64_t waves = 1; waves <= 4; ++waves) {
    const std::int64_t fit = waves * resident / blocks_across;  // chunks that fit in so many waves
    const std::int64_t chunks = fit < 1 ? 1 : fit < most ? fit : most;
    const std::int64_t rows = round_up(ceil_div(grid_rows, chunks), granule);
    const std::int64_t cost =
        ceil_div(ceil_div(grid_rows, rows) * blocks_across, resident) * (rows + S::warm_up);
    if (cost < least) {
      least = cost;
      best = rows;
    }
  }
  return static_cast<int>(best);
}

}  // namespace amasia::hotspot
