// Where everything lies: the index arithmetic of both schedules, without device code, so that the
// CPU tests reach all of it.
#pragma once

#include <cstdint>

#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::pathfinder {

/// The original geometry (Rodinia): a block of 256 threads, one column each, takes 20 rows per
/// launch; its valid columns shrink by one on each side per row, so blocks overlap by 2 * 20
/// columns. With CLUSTER > 1 neighbouring blocks hand their boundary over instead, and only the
/// cluster's two ends shrink.
template <int CLUSTER = 1>
struct Pyramid {
  static constexpr int threads = 256;
  static constexpr int height = 20;  // rows per launch
  static constexpr int cluster = CLUSTER;
  static constexpr int width = CLUSTER * threads;   // columns a cluster starts with
  static constexpr int valid = width - 2 * height;  // columns it finishes
  static_assert(valid > 0);

  static constexpr std::int64_t blocks(std::int64_t columns) {
    return ceil_div(columns, valid) * CLUSTER;
  }
  static constexpr std::int64_t launches(std::int64_t rows) {
    return rows > 1 ? ceil_div(rows - 1, height) : 1;
  }
  /// Grid column of a thread; negative or beyond the edge in the halo of the outermost blocks.
  AMASIA_HD static constexpr std::int64_t column(std::int64_t block, int thread) {
    return block / CLUSTER * valid - height + block % CLUSTER * threads + thread;
  }
  /// Position of a thread in its cluster.
  AMASIA_HD static constexpr int position(std::int64_t block, int thread) {
    return static_cast<int>(block % CLUSTER) * threads + thread;
  }
  /// Is the cost at `position` right after `steps` rows?
  AMASIA_HD static constexpr bool correct(int position, int steps) {
    return position >= steps && position < width - steps;
  }
};

/// Persistent strips. A warp keeps a window of 32 * LANE_COLUMNS costs in registers and walks down
/// the rows; each row spoils one column at each end of what the warp knows. Windows are `stride`
/// columns apart, so after `halo` rows each has exactly its own columns left and takes the others
/// from the windows that own them:
///
///   group (block or cluster)  |<- outer halo ->|<------ owned ------>|<- outer halo ->| `columns`
///   wide window 0                  |<----- window ----->| window 1                       stride
///   |<----- window ----->| window 2                                    stride  |<----- window
///   ----->|
///
/// Inner exchange, every `halo` rows, through (distributed) shared memory, between windows of a
/// group. Outer exchange, every `outer_halo` = EXCHANGES * halo rows, through global memory: what a
/// group's ends have lost since the last one. Two levels because a word takes ~0.1k cycles inside a
/// block, ~0.25k inside a cluster and ~0.7k through L2, and a wider halo costs wall reads.
template <int WARPS, int LANE_COLUMNS, int STRIDE, int EXCHANGES, int STAGE_ROWS, int STAGES,
          int ROUND, int BLOCKS_PER_SM = 1, int PRODUCERS = 0, int PANELS = 1, int CLUSTER = 1>
struct Strips {
  static constexpr int warps = WARPS;
  static constexpr int walkers = 32 * WARPS;  // threads that compute
  static constexpr int threads = 32 * (WARPS + PRODUCERS);
  static constexpr int lane_columns = LANE_COLUMNS;
  static constexpr bool tall = LANE_COLUMNS == 4;  // narrow windows, for grids bound by the chain
  static constexpr int window = 32 * LANE_COLUMNS;
  static constexpr int stride = STRIDE;
  static constexpr int halo = (window - STRIDE) / 2;   // rows between inner exchanges
  static constexpr int exchanges = EXCHANGES;          // inner epochs per outer one
  static constexpr int outer_halo = EXCHANGES * halo;  // rows between outer exchanges
  static constexpr int cluster = CLUSTER;
  static constexpr int windows = WARPS * CLUSTER;                     // of a group
  static constexpr int columns = (windows - 1) * STRIDE + window;     // of a group
  static constexpr int owned = columns - 2 * outer_halo;              // of a group
  static constexpr int tile_columns = (WARPS - 1) * STRIDE + window;  // of a block
  static constexpr int stage_rows = STAGE_ROWS;                       // wall rows per stage
  static constexpr int stages = STAGES;
  static constexpr int round = ROUND;  // rows per round of shuffles
  static constexpr int blocks_per_sm = BLOCKS_PER_SM;
  // A stage is PANELS boxes side by side, each stage_rows x panel_columns and dense. With a
  // producer (TMA) a box starts on 128 bytes, for which 8 columns do where stage_rows is a multiple
  // of 4.
  static constexpr int panels = PANELS;
  static constexpr int panel_columns =
      PRODUCERS > 0 ? static_cast<int>(round_up(ceil_div(tile_columns, PANELS), 8)) : tile_columns;
  static constexpr int stage_elements = STAGE_ROWS * PANELS * panel_columns;

  static_assert(LANE_COLUMNS % 4 == 0, "a lane reads the wall in 16-byte pieces");
  static_assert((window - STRIDE) % 8 == 0 && STRIDE % 4 == 0 && STRIDE > 0 && STRIDE < window,
                "windows and halos start on 16 bytes");
  static_assert(owned > 0);
  static_assert(halo % STAGE_ROWS == 0 && STAGE_ROWS % ROUND == 0 && ROUND <= LANE_COLUMNS);
  static_assert(PRODUCERS > 0 || PANELS == 1);
  static_assert(STRIDE >= halo, "a halo comes from the adjacent windows only");

  static constexpr std::int64_t blocks(std::int64_t grid_columns) {
    return ceil_div(grid_columns, owned) * CLUSTER;
  }
  /// Grid column of the group's first position; of a block's first position.
  AMASIA_HD static constexpr std::int64_t group_column(std::int64_t group) {
    return group * owned - outer_halo;
  }
  AMASIA_HD static constexpr std::int64_t tile_column(std::int64_t block) {
    return group_column(block / CLUSTER) + block % CLUSTER * (WARPS * STRIDE);
  }
  /// Does window `w` of the group keep the cost at `column` of the window, or lose it within `halo`
  /// rows and take it from the window before or after? The group's ends have nobody to take it
  /// from.
  AMASIA_HD static constexpr bool keeps(int w, int column) {
    return (column >= halo || w == 0) && (column < halo + stride || w == windows - 1);
  }
  /// Does the group finish this position itself, or know it only for a while?
  AMASIA_HD static constexpr bool is_owned(int position) {
    return position >= outer_halo && position < columns - outer_halo;
  }
  /// Must this owned position be told to neighbouring groups? They reach `outer_halo` columns in.
  AMASIA_HD static constexpr bool is_published(int position) {
    return is_owned(position) &&
           (position < 2 * outer_halo || position >= columns - 2 * outer_halo);
  }
  /// Element of a stage that holds column `column` (a multiple of 4) of the tile, row 0.
  AMASIA_HD static constexpr int stage_offset(int column) {
    return column / panel_columns * (STAGE_ROWS * panel_columns) + column % panel_columns;
  }
  /// Outer exchanges of a walk over `steps` rows.
  AMASIA_HD static constexpr std::int64_t outer_exchanges(std::int64_t steps) {
    return steps > 0 ? (steps - 1) / outer_halo : 0;
  }
};

}  // namespace amasia::pathfinder
