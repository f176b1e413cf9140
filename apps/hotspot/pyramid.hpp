// Rodinia's geometry (schedules iso and iso-walk): 16 x 16 threads, a tile of 16 x 16 cells, two
// steps per launch, so that the outer two cells of a tile are halo and a block finishes 12 x 12.
#pragma once

#include <cstdint>
#include <vector>

#include "variants/geometry/ring.hpp"
#include "variants/geometry/tile.hpp"
#include "variants/host_device.hpp"

namespace amasia::hotspot {

inline constexpr int tile_size = 16;
inline constexpr int pyramid_height = 2;                     // steps per launch
inline constexpr int core = tile_size - 2 * pyramid_height;  // cells a block finishes, per side
inline constexpr int tile_threads = tile_size * tile_size;

/// A tile as threads copy it: each its own cell, in each grid.
using PyramidTile = Tile<float, tile_size, tile_size, 4>;

AMASIA_HD constexpr TileOrigin pyramid_origin(std::int64_t tile_row, std::int64_t tile_column) {
  return {tile_row * core - pyramid_height, tile_column * core - pyramid_height};
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

}  // namespace amasia::hotspot
