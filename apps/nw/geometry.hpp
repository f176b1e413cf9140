// Where everything lies: the index arithmetic of both schedules, without device code, so that the
// CPU tests reach all of it.
#pragma once

#include <cstdint>

#include "apps/nw/nw.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::nw {

/// The original geometry (Rodinia): tiles of 16 x 16 cells, a block of 16 threads each, one launch
/// per anti-diagonal of tiles. With CLUSTER > 1 a cluster takes that many tiles, one below the
/// other.
template <int CLUSTER = 1>
struct Diagonals {
  static constexpr int tile = 16;
  static constexpr int threads = 16;
  static constexpr int cluster = CLUSTER;
  static constexpr int height = CLUSTER * tile;  // rows that a cluster takes

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

/// Persistent bands. A warp takes a band of 128 rows, four to a lane, from left to right. In a step
/// a lane makes 4 x 4 cells; lane l is l steps behind lane 0, whose bottom row it continues.
///
/// ref comes, and scores go, in stages of 128 rows x 32 columns that the warp overwrites in place.
/// Because lanes lag, the eight lanes of a group (32 rows) are 32 columns behind the group above: a
/// stage is not a rectangle of the grid but four boxes, each one tile left of the box above it.
///
/// - Stage n holds tile n of group 0, tile n - 1 of group 1, n - 2 of group 2, n - 3 of group 3.
/// - It is in work in steps 8n ... 8n + 14: a lane enters it at its place in the group.
/// - Period k is steps 8k ... 8k + 7: some lanes are still in stage k - 1, the others in stage k.
///
/// So a stage is in work for two periods whatever the width of the warp, and 128-byte rows read at
/// a slant spread over all banks: in the same step, eight lanes of a group read eight different
/// chunks.
template <int STAGES>
struct Bands {
  static constexpr int lane_rows = 4;
  static constexpr int step_columns = 4;
  static constexpr int rows = 32 * lane_rows;
  static constexpr int tile_columns = 32;                     // 128 bytes: a line, all banks
  static constexpr int period = tile_columns / step_columns;  // steps
  static constexpr int group_lanes = period;                  // lanes that share a box
  static constexpr int group_rows = group_lanes * lane_rows;
  static constexpr int groups = 32 / group_lanes;
  static constexpr int stage_elements = rows * tile_columns;
  static constexpr int stage_bytes = 4 * stage_elements;
  static constexpr int stages = STAGES;
  static_assert(rows == band_rows);

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
  /// Tile that a group's box of stage n holds; outside 0 ... tiles-1: none.
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
};

/// Stages that a mover with groups of this parity takes at once, from stage n on: with TURN = 2 one
/// where only half of a pair is left at the beginning or the end of a walk, else two.
template <int TURN>
AMASIA_HD constexpr int turn_of(int n, int parity, int stages) {
  const int whole = TURN - (n + TURN - parity % TURN) % TURN;
  return whole < stages - n ? whole : stages - n;
}

}  // namespace amasia::nw
