// The shape of a 2-D tile in shared memory and the grid in global memory it is cut from. Every
// strategy's copy_tile takes these; elements outside the grid arrive as zero (as TMA fills them),
// so the computation, not the copy, knows the boundary.
#pragma once

#include <cstdint>

#include "variants/host_device.hpp"

namespace amasia {

/// A row-major matrix in global memory. `pitch` is in elements, a multiple of 16 bytes, equal for
/// all strategies; `data` is 256-byte aligned.
template <class T>
struct Grid {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t pitch = 0;
  AMASIA_HD T& at(std::int64_t r, std::int64_t c) const { return data[r * pitch + c]; }
};

/// Columns rounded up so that every row starts on a 128-byte line: 16 bytes would do for TMA and
/// cp.async, 128 keeps rows from sharing a line.
template <class T>
AMASIA_HD constexpr std::int64_t padded_pitch(std::int64_t columns) {
  constexpr std::int64_t line = 128 / sizeof(T);
  return (columns + line - 1) / line * line;
}

/// ROWS x COLUMNS elements, dense in shared memory. CHUNK is the bytes one thread copies at once:
/// 16 when the tile's first column is a multiple of 16 bytes in the grid, else 4.
template <class T, int ROWS, int COLUMNS, int CHUNK = 16>
struct Tile {
  using Element = T;
  static constexpr int rows = ROWS;
  static constexpr int columns = COLUMNS;
  static constexpr int elements = ROWS * COLUMNS;
  static constexpr int bytes = elements * static_cast<int>(sizeof(T));
  static constexpr int chunk_bytes = CHUNK;
  static constexpr int chunk_elements = CHUNK / static_cast<int>(sizeof(T));
  static constexpr int chunks_per_row = COLUMNS / chunk_elements;
  static constexpr int chunks = ROWS * chunks_per_row;
  static_assert(CHUNK == 16 || CHUNK == 8 || CHUNK == 4, "cp.async copies 4, 8 or 16 bytes");
  static_assert(COLUMNS % chunk_elements == 0, "a row is a whole number of chunks");
};

/// Where a tile's top left element lies in the grid; may be negative or beyond the edge.
struct TileOrigin {
  std::int64_t row;
  std::int64_t column;
};

/// One chunk of a tile: its offset in the tile and how many of its elements lie inside the grid.
struct Chunk {
  int tile_offset;           // elements
  std::int64_t grid_offset;  // elements; valid only if inside > 0
  int inside;                // leading elements inside the grid: 0 ... chunk_elements
};

/// The i-th chunk of a tile at `origin`. A chunk that starts left of the grid lies wholly outside,
/// because origins are multiples of the chunk.
template <class TileT, class T>
AMASIA_HD constexpr Chunk chunk_of(int i, const Grid<T>& grid, TileOrigin origin) {
  const int row = i / TileT::chunks_per_row;
  const int column = (i % TileT::chunks_per_row) * TileT::chunk_elements;
  const std::int64_t r = origin.row + row;
  const std::int64_t c = origin.column + column;
  int inside = 0;
  if (r >= 0 && r < grid.rows && c >= 0 && c < grid.columns) {
    const std::int64_t left = grid.columns - c;
    inside = left < TileT::chunk_elements ? static_cast<int>(left) : TileT::chunk_elements;
  }
  return {row * TileT::columns + column, r * grid.pitch + c, inside};
}

}  // namespace amasia
