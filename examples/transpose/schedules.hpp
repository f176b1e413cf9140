// Every schedule of transpose, once, for all strategies: who turns which part of which matrix. How
// it travels is no part of it.
#pragma once

#include <vector>

#include "harness/app.hpp"
#include "transpose.hpp"
#include "variants/geometry/box.hpp"

namespace amasia::transpose {

/// THREADS threads turn a tile of whole matrices, each of them BLOCKS_OF_4 blocks of 4 x 4 numbers
/// in its registers. BLOCKS blocks per SM stay and take tiles at the stride of the grid.
template <int THREADS, int BLOCKS_OF_4, int BLOCKS>
struct Geometry {
  static constexpr int threads = THREADS;
  static constexpr int warps = THREADS / 32;
  static constexpr int per_thread = BLOCKS_OF_4;
  static constexpr int blocks_per_sm = BLOCKS;
  static constexpr int tile_chunks = 4 * THREADS * BLOCKS_OF_4;  // of 16 bytes
  static constexpr int tile_bytes = 16 * tile_chunks;
  /// Matrices of a tile, and their rows.
  template <int N>
  static constexpr int matrices = 4 * tile_chunks / (N * N);
  template <int N>
  static constexpr int rows = N* matrices<N>;
};

struct Iso : Geometry<256, 1, 4> {
  static constexpr const char* name = "iso";
};
struct Two : Geometry<256, 2, 2> {
  static constexpr const char* name = "256x2";
};
struct Half : Geometry<128, 2, 4> {
  static constexpr const char* name = "128x2";
};

inline std::vector<Schedule> all_schedules() {
  return {
      {Iso::name,
       "four blocks of 256 threads per SM; a thread turns 4 x 4 numbers of a tile of "
       "16 KiB"},
      {Two::name,
       "two blocks of 256 threads per SM; a thread turns twice 4 x 4 numbers of a "
       "tile of 32 KiB"},
      {Half::name,
       "four blocks of 128 threads per SM; a thread turns twice 4 x 4 numbers of a "
       "tile of 16 KiB"},
  };
}

/// A block of 4 x 4 numbers: rows 4 r ... 4 r + 3 and chunk c of the matrices of a tile, of which
/// this is number `matrix`.
struct Place {
  int matrix, r, c;
};

/// The block that lane `lane` turns in a warp's turn `turn`. The lanes of a warp are four chunks
/// wide and eight blocks high: what they write are lines of 128 bytes, what they read is 64 bytes
/// wide, and from the panels below without a conflict of banks.
template <int N>
AMASIA_HD constexpr Place place_of(int turn, int lane) {
  constexpr int across = N / 16, per_matrix = across * (N / 32);
  const int of_matrix = turn % per_matrix;
  return {turn / per_matrix, of_matrix / across * 8 + lane / 4, of_matrix % across * 4 + lane % 4};
}

/// Where chunk `chunk` of row `row` of a tile of `rows` rows lies in shared memory: in panels 32
/// columns wide, swizzled by 128 bytes as a tensor map does it.
AMASIA_HD constexpr int shared_chunk(int row, int chunk, int rows) {
  return (chunk / 8 * rows + row) * 8 + swizzled_chunk(row, chunk % 8);
}

}  // namespace amasia::transpose
