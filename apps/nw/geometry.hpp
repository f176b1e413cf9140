// Where everything lies: the index arithmetic of all schedules, without device code, so that the
// CPU tests reach all of it.
#pragma once

#include <cstdint>

#include "apps/nw/nw.hpp"
#include "apps/nw/schedules.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::nw {

/// The original geometry (Rodinia): a launch per anti-diagonal of tiles, or of columns of
/// Schedule::tiles tiles.
template <class Schedule>
struct Diagonals {
  static constexpr int tile = 16;
  static constexpr int threads = 16;
  static constexpr int tiles = Schedule::tiles;
  static constexpr int height = tiles * tile;

  AMASIA_HD static constexpr std::int64_t across(std::int64_t columns) {
    return ceil_div(columns, tile);
  }
  AMASIA_HD static constexpr std::int64_t down(std::int64_t rows) { return ceil_div(rows, height); }
  static constexpr std::int64_t launches(std::int64_t rows, std::int64_t columns) {
    return across(columns) + down(rows) - 1;
  }
  /// First tile column of anti-diagonal d, and how many it has.
  AMASIA_HD static constexpr std::int64_t first(std::int64_t d, std::int64_t rows) {
    return d < down(rows) ? 0 : d - down(rows) + 1;
  }
  static constexpr std::int64_t count(std::int64_t d, std::int64_t rows, std::int64_t columns) {
    const std::int64_t last = d < across(columns) ? d : across(columns) - 1;
    return last - first(d, rows) + 1;
  }
};

/// Persistent bands. A warp takes a band from left to right. In a step a lane makes lane_rows x 4
/// cells; lane l is l steps behind lane 0, whose bottom row it continues.
///
/// ref comes, and scores go, in stages that are as high as the band and BATCH tiles of 32 columns
/// wide; the warp overwrites them in place. Because lanes lag, a group of lanes is one stage's
/// width behind the group above: a stage is not a rectangle of the grid but one box per group, each
/// one width left of the box above it.
///
/// - Stage n holds box n of group 0, box n - 1 of group 1, and so on.
/// - A period is the steps in which lane 0 crosses a stage. Stage n is in work for two of them: a
///   lane enters it at its place in its group.
/// - In period k some lanes are still in stage k - 1, the others in stage k.
///
/// So a stage is in work for two periods whatever the width of the warp. Rows of whole lines that
/// are read at a slant spread over all banks: in a step, eight neighbouring lanes read eight
/// different chunks of 16 bytes.
///
/// The walk asks for the row above one hand-over before it needs it. The answer takes 300 to 500
/// cycles (L2 of an H200), so the 8 steps of a hand-over are enough; to ask earlier keeps the band
/// further behind the one above it.
template <class SCHEDULE, int BATCH, int STAGES>
struct Bands {
  using Schedule = SCHEDULE;
  static constexpr int lane_rows = Schedule::lane_rows;
  static constexpr int step_columns = 4;
  static constexpr int rows = 32 * lane_rows;
  static constexpr int batch = BATCH;
  static constexpr int tile_columns = 32 * BATCH;             // of a box: whole lines of 128 bytes
  static constexpr int period = tile_columns / step_columns;  // steps
  static constexpr int group_lanes = period;                  // lanes that share a box
  static constexpr int group_rows = group_lanes * lane_rows;
  static constexpr int groups = 32 / group_lanes;
  static constexpr int stage_elements = rows * tile_columns;
  static constexpr int stage_bytes = 4 * stage_elements;
  static constexpr int stages = STAGES;

  static constexpr int hand_columns = Schedule::hand_columns;
  static constexpr int hand_steps = hand_columns / step_columns;
  static constexpr int hands = period / hand_steps;  // hand-overs in a period

  static_assert(period <= 32 && tile_columns % hand_columns == 0 && hand_steps >= 4);
  static_assert(rows >= fewest_band_rows, "instance.cu allocates words for no more bands");

  AMASIA_HD static constexpr int bands(std::int64_t grid_rows) {
    return static_cast<int>(ceil_div(grid_rows, rows));
  }
  AMASIA_HD static constexpr int tiles(std::int64_t columns) {
    return static_cast<int>(ceil_div(columns, tile_columns));
  }
  /// Stages that hold cells of the grid.
  AMASIA_HD static constexpr int filled(std::int64_t columns) {
    return tiles(columns) + groups - 1;
  }
  /// Periods of a walk: the last lanes leave the last stage one period after its first.
  AMASIA_HD static constexpr int periods(std::int64_t columns) { return filled(columns) + 1; }
  /// Box that a group has in stage n; outside 0 ... tiles-1: none.
  AMASIA_HD static constexpr int tile_of(int n, int group) { return n - group; }
  /// Does a lane (by its place in the group) work on stage k at this step of period k, or still on
  /// stage k - 1? And on which 16-byte chunk of its rows?
  AMASIA_HD static constexpr bool entered(int step, int place) { return step >= place; }
  AMASIA_HD static constexpr int chunk(int step, int place) {
    return (step - place + period) % period;
  }
  /// Where that chunk is in a row of its stage, in bytes, less 16 * step: the same at all steps
  /// until the lane enters stage k.
  AMASIA_HD static constexpr int chunk_offset(int step, int place) {
    return 16 * (chunk(step, place) - step);
  }
  /// The first column that the last lane has finished, and not yet handed over, before the last
  /// step of hand-over q of period k. Negative: before the grid.
  AMASIA_HD static constexpr int finished(int k, int q) {
    return tile_of(k - 1, groups - 1) * tile_columns + q * hand_columns;
  }
};

/// Persistent bands of columns, walked down the rows (column_walk.cuh). Stages are boxes of 32
/// rows, one below the other; lane l is l rows behind lane 0.
template <int STAGES>
struct ColumnBands {
  static constexpr int columns = 128;
  static constexpr int stage_rows = 32;  // a lane enters a stage at the step of its number
  static constexpr int stages = STAGES;
  static constexpr int row_bytes = 4 * columns;
  static constexpr int stage_elements = columns * stage_rows;
  static constexpr int stage_bytes = 4 * stage_elements;

  AMASIA_HD static constexpr int bands(std::int64_t grid_columns) {
    return static_cast<int>(ceil_div(grid_columns, columns));
  }
  AMASIA_HD static constexpr int filled(std::int64_t rows) {
    return static_cast<int>(ceil_div(rows, stage_rows));
  }
  /// Words of a band's last column.
  AMASIA_HD static constexpr std::int64_t pitch(std::int64_t rows) {
    return round_up(rows, stage_rows);
  }
};

/// Words that handing over needs in any schedule.
AMASIA_HD constexpr std::int64_t handover_words(std::int64_t rows, std::int64_t columns,
                                                std::int64_t pitch) {
  const std::int64_t by_rows = ceil_div(rows, fewest_band_rows) * pitch;
  const std::int64_t by_columns = ColumnBands<1>::bands(columns) * ColumnBands<1>::pitch(rows);
  return by_rows > by_columns ? by_rows : by_columns;
}

/// The warps of a block: the walker is warp 0. Warp w is on scheduler w % 4 of the SM, and the
/// walker wants its own for itself: where there are more than three producers, warp 4 does nothing.
template <int PRODUCERS>
struct Warps {
  static constexpr int producers = PRODUCERS;
  static constexpr int producer_threads = 32 * PRODUCERS;
  static constexpr int block_threads = 128 * ((PRODUCERS + 2) / 3);
  static constexpr int at_barrier = 32 + producer_threads;
  /// Of the producers' threads; negative: the walker's warp, or one that does nothing.
  AMASIA_HD static constexpr int producer_of(int thread) {
    const int warp = thread / 32;
    const bool produces = warp % 4 != 0 && warp - warp / 4 <= producers;
    return produces ? thread - 32 * (1 + warp / 4) : -1;
  }
};

/// The 16-byte chunks of a stage that one of THREADS threads moves. A chunk has the same column in
/// all rows, so that neighbouring threads have neighbouring chunks.
template <class B, int THREADS>
struct ChunksOfThread {
  static constexpr int per_row = B::tile_columns / 4;
  static constexpr int row_step = THREADS / per_row;
  static constexpr int count = (B::rows + row_step - 1) / row_step;
  static_assert(THREADS % per_row == 0);

  AMASIA_HD static constexpr int column(int thread) { return 4 * (thread % per_row); }
  AMASIA_HD static constexpr int row(int thread, int i) { return thread / per_row + i * row_step; }
  /// Column of the grid of a chunk of stage n. Outside 0 ... pitch - 1: there is nothing to move.
  AMASIA_HD static constexpr int grid_column(int n, int row, int column) {
    return B::tile_of(n, row / B::group_rows) * B::tile_columns + column;
  }
};

}  // namespace amasia::nw
