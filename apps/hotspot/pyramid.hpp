// Rodinia's geometry (every `iso` config): 16 x 16 threads, a tile of 16 x 16 cells, two steps per
// launch, so that the outer two cells of a tile are halo and a block finishes 12 x 12.
#pragma once

#include <cstdint>

#include "variants/geometry/ring.hpp"
#include "variants/geometry/tile.hpp"
#include "variants/host_device.hpp"

namespace amasia::hotspot {

inline constexpr int tile_size = 16;
inline constexpr int pyramid_height = 2;                     // steps per launch
inline constexpr int core = tile_size - 2 * pyramid_height;  // cells a block finishes, per side
inline constexpr int tile_threads = tile_size * tile_size;

/// A tile as the strategies copy it: its first column is even, so 8-byte chunks are aligned.
using PyramidTile = Tile<float, tile_size, tile_size, 8>;

AMASIA_HD constexpr TileOrigin pyramid_origin(std::int64_t tile_row, std::int64_t tile_column) {
  return {tile_row * core - pyramid_height, tile_column * core - pyramid_height};
}

/// A thread's cell in a tile, and how far away its neighbours are in it. A neighbour beyond the
/// edge of the grid is the cell itself; so is one beyond the tile, whose value never reaches the
/// core.
struct TileCell {
  int row;
  int column;
  int index;
  int north, south, west, east;  // offsets in the tile
  bool finishes;                 // the cell lies in the core and in the grid

  /// `stride` cells from one row of the tile in shared memory to the next, of which the first
  /// `shift` do not belong to the tile.
  AMASIA_HD constexpr TileCell(TileOrigin origin, int thread, std::int64_t rows,
                               std::int64_t columns, int stride = tile_size, int shift = 0)
      : row(static_cast<int>(origin.row) + thread / tile_size),
        column(static_cast<int>(origin.column) + thread % tile_size),
        index(thread / tile_size * stride + thread % tile_size + shift),
        north(thread / tile_size > 0 && row > 0 ? -stride : 0),
        south(thread / tile_size < tile_size - 1 && row < static_cast<int>(rows) - 1 ? stride : 0),
        west(thread % tile_size > 0 && column > 0 ? -1 : 0),
        east(thread % tile_size < tile_size - 1 && column < static_cast<int>(columns) - 1 ? 1 : 0),
        finishes(in_core(thread / tile_size) && in_core(thread % tile_size) &&
                 row < static_cast<int>(rows) && column < static_cast<int>(columns)) {}

  static AMASIA_HD constexpr bool in_core(int i) {
    return i >= pyramid_height && i < tile_size - pyramid_height;
  }
};

}  // namespace amasia::hotspot
