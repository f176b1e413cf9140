// Every schedule of convolution_1d, once, for all strategies: how columns are dealt out. How they
// travel is no part of it.
#pragma once

#include <vector>

#include "convolution_1d.hpp"
#include "harness/app.hpp"

namespace amasia::convolution_1d {

/// Where a thread finds the inputs beside its own: in shared memory, where others have put them,
/// or in the registers of the other lanes of its warp.
enum class Window { shared, lanes };

/// THREADS threads compute a tile of THREADS x CHUNKS x 4 columns of a row. BLOCKS blocks per SM
/// stay and take tiles at the stride of the grid.
template <int THREADS, int CHUNKS, int BLOCKS, Window WINDOW = Window::shared>
struct Geometry {
  static constexpr int threads = THREADS;
  static constexpr int chunks = CHUNKS;
  static constexpr int blocks_per_sm = BLOCKS;
  static constexpr Window window = WINDOW;
  static constexpr int columns = 4 * THREADS * CHUNKS;
  /// Chunks of 16 bytes of a tile and its margins, of two chunks at each end.
  static constexpr int margin_chunks = radius / 4;
  static constexpr int tile_chunks = THREADS * CHUNKS + 2 * margin_chunks;
  /// As many, rounded up to 128 bytes, so that a bulk copy into any stage starts on a line.
  static constexpr int stage_chunks = (tile_chunks + 7) / 8 * 8;
  static_assert(radius % 4 == 0, "a margin is whole chunks");
};

// What all strategies can do: drop_off has no windows in shared memory.
struct Iso : Geometry<256, 1, 4, Window::lanes> {
  static constexpr const char* name = "iso";
};
struct Lanes : Geometry<256, 2, 4, Window::lanes> {
  static constexpr const char* name = "lanes";
};
struct One : Geometry<256, 1, 4> {
  static constexpr const char* name = "256x1";
};
struct Two : Geometry<256, 2, 4> {
  static constexpr const char* name = "256x2";
};
struct Four : Geometry<256, 4, 4> {
  static constexpr const char* name = "256x4";
};

inline std::vector<Schedule> all_schedules() {
  return {
      {Iso::name,
       "four blocks of 256 threads per SM, a tile of 1024 columns of a row; a thread gets its "
       "neighbours' inputs from the lanes of its warp"},
      {Lanes::name, "as iso, a tile of 2048 columns"},
      {One::name,
       "four blocks of 256 threads per SM, a tile of 1024 columns; a thread reads its window from "
       "shared memory"},
      {Two::name, "as 256x1, a tile of 2048 columns"},
      {Four::name, "as 256x1, a tile of 4096 columns"},
  };
}

/// The tiles of one block: a row and a tile of it, and the step to the next. Divisions once.
struct TileWalk {
  std::int64_t row = 0;
  int tile = 0;  // of the row
  std::int64_t step_rows = 0;
  int step_tiles = 0;
  int per_row = 1;

  AMASIA_HD TileWalk(std::int64_t columns, int tile_columns, std::int64_t block,
                     std::int64_t blocks)
      : per_row(static_cast<int>((columns + tile_columns - 1) / tile_columns)) {
    row = block / per_row;
    tile = static_cast<int>(block % per_row);
    step_rows = blocks / per_row;
    step_tiles = static_cast<int>(blocks % per_row);
  }
  AMASIA_HD TileWalk& operator++() {
    row += step_rows;
    tile += step_tiles;
    if (tile >= per_row) {
      tile -= per_row;
      ++row;
    }
    return *this;
  }
};

}  // namespace amasia::convolution_1d
