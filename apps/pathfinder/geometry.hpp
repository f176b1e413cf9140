// Where everything lies: the index arithmetic of all schedules, without device code, so that the
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

/// How the wall of a strip moves, and, where blocks form clusters, the costs between their windows.
/// STAGE_ROWS rows are handed over at a time and STAGES such stages lie in shared memory. They are
/// brought by PRODUCER_WARPS warps that do nothing else, or, if 0, by the warps that compute.
/// DEPTH: stages that computing warps hold in registers ahead of the one they read. CLUSTER blocks
/// are one group, which then goes EXCHANGES inner epochs between outer ones instead of the
/// schedule's. With L2_AHEAD > 0 computing warps ask L2 for the stage that is so many ahead of the
/// one that they read.
template <int STAGE_ROWS, int STAGES, int PRODUCER_WARPS = 0, int DEPTH = 0, int CLUSTER = 1,
          int EXCHANGES = 0, int L2_AHEAD = 0>
struct Movement {
  static constexpr int l2_ahead = L2_AHEAD;
  static constexpr int stage_rows = STAGE_ROWS;
  static constexpr int stages = STAGES;
  static constexpr int producer_warps = PRODUCER_WARPS;
  static constexpr int depth = DEPTH;
  static constexpr int cluster = CLUSTER;
  static constexpr int exchanges = EXCHANGES;
};

/// Persistent strips. A warp keeps a window of 32 * lane_columns costs in registers and walks down
/// the rows; each row spoils one column at each end of what the warp knows. Windows are `stride`
/// columns apart, so after `halo` rows each has exactly its own columns left and takes the others
/// from the windows that own them:
///
///   group (block or cluster)   |<- outer halo ->|<------ owned ------>|<- outer halo ->|
///   window 0                   |<----- window ----->|
///   window 1                   |<- stride ->|<----- window ----->|
///   window 2                                |<- stride ->|<----- window ----->|
///
/// Inner exchange, every `halo` rows, through (distributed) shared memory, between windows of a
/// group. Outer exchange, every `outer_halo` = exchanges * halo rows, through global memory: what a
/// group's ends have lost since the last one. Two levels because a word takes ~0.1k cycles inside a
/// block, ~0.25k inside a cluster and ~0.7k through L2, and a wider halo costs wall reads.
template <class SCHEDULE, class MOVEMENT>
struct Strips {
  using Schedule = SCHEDULE;
  using Movement = MOVEMENT;
  static constexpr int warps = Schedule::warps;
  static constexpr int walkers = 32 * warps;  // threads that compute
  static constexpr int producers = 32 * Movement::producer_warps;
  static constexpr int threads = walkers + producers;
  static constexpr int lane_columns = Schedule::lane_columns;
  static constexpr bool tall = Schedule::tall;
  static constexpr int window = 32 * lane_columns;
  static constexpr int stride = Schedule::stride;
  static constexpr int halo = (window - stride) / 2;  // rows between inner exchanges
  static constexpr int exchanges =                    // inner epochs per outer one
      Movement::exchanges > 0 ? Movement::exchanges : Schedule::exchanges;
  static constexpr int outer_halo = exchanges * halo;  // rows between outer exchanges
  static constexpr int cluster = Movement::cluster;
  static constexpr int windows = warps * cluster;                     // of a group
  static constexpr int columns = (windows - 1) * stride + window;     // of a group
  static constexpr int owned = columns - 2 * outer_halo;              // of a group
  static constexpr int tile_columns = (warps - 1) * stride + window;  // of a block
  static constexpr int stage_rows = Movement::stage_rows;
  static constexpr int stages = Movement::stages;
  static constexpr int round = Schedule::round;  // rows per round of shuffles
  static constexpr int blocks_per_sm = Schedule::blocks_per_sm;
  /// May a thread have 128 of the SM's 65536 registers? Then a lane holds all words that it asks
  /// other groups for at once; elsewhere they would be spilled.
  static constexpr bool roomy = 128 * threads * blocks_per_sm <= 65536;

  static_assert(lane_columns % 4 == 0, "a lane reads the wall in 16-byte pieces");
  static_assert((window - stride) % 8 == 0 && stride % 4 == 0 && stride > 0 && stride < window,
                "windows and halos start on 16 bytes");
  static_assert(owned > 0);
  static_assert(halo % stage_rows == 0 && stage_rows % round == 0 && round <= lane_columns);
  static_assert(windows == 1 || stride >= halo, "a halo comes from the adjacent windows only");
  static_assert(halo + round < 128, "beyond the edge, costs grow by 128 rows of walls at most");

  static constexpr std::int64_t blocks(std::int64_t grid_columns) {
    return ceil_div(grid_columns, owned) * cluster;
  }
  /// Grid column of the group's first position; of a block's first position.
  AMASIA_HD static constexpr std::int64_t group_column(std::int64_t group) {
    return group * owned - outer_halo;
  }
  AMASIA_HD static constexpr std::int64_t tile_column(std::int64_t block) {
    return group_column(block / cluster) + block % cluster * (warps * stride);
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
  /// Column of the tile where a thread's columns begin.
  AMASIA_HD static constexpr int lane_column(int thread) {
    return thread / 32 * stride + thread % 32 * lane_columns;
  }
  /// Stages that a walk over `steps` rows reads.
  AMASIA_HD static constexpr int stages_of(int steps) {
    return static_cast<int>(ceil_div(steps, stage_rows));
  }
  /// Outer exchanges of a walk over `steps` rows.
  AMASIA_HD static constexpr std::int64_t outer_exchanges(std::int64_t steps) {
    return steps > 0 ? (steps - 1) / outer_halo : 0;
  }
};

/// A stage as the copy engine brings it: boxes side by side, each `rows` x `columns` and dense. A
/// box has at most 256 columns and a multiple of 128 bytes, so that the next one starts on as many.
template <int ROWS, int TILE_COLUMNS>
struct Boxes {
  static constexpr int rows = ROWS;

 private:
  static constexpr int granule() {  // columns
    int g = 4;                      // 16 bytes
    while (g * ROWS % 32 != 0) g *= 2;
    return g;
  }
  static constexpr int columns_of(int boxes) {
    return static_cast<int>(round_up(ceil_div(TILE_COLUMNS, boxes), granule()));
  }
  /// The number of boxes that reads the fewest columns beyond the tile.
  static constexpr int best_count() {
    const int fewest = static_cast<int>(ceil_div(TILE_COLUMNS, 256));
    int best = fewest;
    while (columns_of(best) > 256) ++best;
    for (int n = best; n < fewest + 8; ++n) {
      if (n * columns_of(n) < best * columns_of(best)) best = n;
    }
    return best;
  }

 public:
  static constexpr int count = best_count();
  static constexpr int columns = columns_of(count);
  static constexpr int elements = ROWS * count * columns;
  static_assert(columns <= 256 && ROWS <= 256);

  /// Element of a stage that holds column `column` (a multiple of 4) of the tile, row 0.
  AMASIA_HD static constexpr int offset(int column) {
    return column / columns * (ROWS * columns) + column % columns;
  }
};

}  // namespace amasia::pathfinder
