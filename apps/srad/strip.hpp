// The geometry of `strips`: which columns a lane has, which rows a block walks, and when a row is
// finished. Plain arithmetic, the same on host and device.
#pragma once

#include <cstdint>

#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::srad {

/// A warp's window is 128 columns, four a lane. The first and the last lane only help: a pixel
/// needs one column to its west and two to its east.
inline constexpr int per_lane = 4, window = 128, finished_columns = window - 2 * per_lane;
inline constexpr int strip_warps = 4, strip_threads = 32 * strip_warps;
inline constexpr int block_columns = strip_warps * finished_columns;
/// What a block reads of a row, in pieces of 16 bytes.
inline constexpr int tile_columns = block_columns + 2 * per_lane, row_chunks = tile_columns / 4;
static_assert(row_chunks <= strip_threads, "a thread copies one piece of a row at most");

/// 16 warps on an SM: with four rows of 512 bytes each they have 32 KiB in flight.
inline constexpr int strip_blocks_per_sm = 4;
/// A pixel needs one row north of it and two south of it.
inline constexpr int halo_rows = 3;
/// Below 8 rows the halo costs more than idle SMs; 4096 keep a thread's sums within 32 bits.
inline constexpr int least_chunk = 8, most_chunk = 4096;

/// How the blocks of a launch divide the image.
struct Division {
  int chunk_rows;
  int chunks;        // one below the other
  int chunk_places;  // a multiple of the blocks of a cluster
  int across;        // blocks side by side

  static Division of(std::int64_t rows, std::int64_t columns, int sm_count, int cluster = 1) {
    Division d{};
    d.across = static_cast<int>(ceil_div(columns, block_columns));
    const std::int64_t resident = std::int64_t{strip_blocks_per_sm} * sm_count;
    const std::int64_t down = resident / d.across > 0 ? resident / d.across : 1;
    const std::int64_t even = ceil_div(rows, down);
    d.chunk_rows = static_cast<int>(even < least_chunk  ? least_chunk
                                    : even > most_chunk ? most_chunk
                                                        : even);
    d.chunks = static_cast<int>(ceil_div(rows, d.chunk_rows));
    d.chunk_places = static_cast<int>(round_up(d.chunks, cluster));
    return d;
  }
  std::int64_t blocks() const { return std::int64_t{chunk_places} * across; }
};

/// Where a thread works.
struct Place {
  int chunk;       // its number from the top
  int first, end;  // rows that the block finishes; none where the chunk is no chunk
  int row_count;   // that it reads
  int last_row;    // of the image
  int column;      // the first of the lane's four; may lie outside
  int columns;     // of the image
  bool finishes;   // the lane's columns belong to its warp
  bool at_edge;    // the warp's window reaches beyond an edge

  AMASIA_HD Place(int block, int thread, int chunk_rows, int chunk_places, std::int64_t rows,
                  std::int64_t columns_of_image) {
    chunk = block % chunk_places;
    last_row = static_cast<int>(rows) - 1;
    columns = static_cast<int>(columns_of_image);
    const std::int64_t begin = std::int64_t{chunk} * chunk_rows;
    first = static_cast<int>(begin < rows ? begin : rows);
    end = static_cast<int>(begin + chunk_rows < rows ? begin + chunk_rows : rows);
    row_count = first < end ? end - first + halo_rows : 0;
    const int warp = block / chunk_places * strip_warps + thread / 32, lane = thread % 32;
    const int window_begin = warp * finished_columns - per_lane;
    column = window_begin + lane * per_lane;
    finishes = lane > 0 && lane < 31 && column < columns;
    at_edge = window_begin < 0 || window_begin + window > columns;
  }
  /// The k-th row that the block reads. Beyond the edges, the row at the edge again.
  template <bool UPWARDS>
  AMASIA_HD constexpr int row(int k) const {
    const int r = UPWARDS ? end + 1 - k : first - 1 + k;
    return r < 0 ? 0 : r > last_row ? last_row : r;
  }
  /// The row that is finished when the k-th has been read; one of the block's from the fourth on.
  template <bool UPWARDS>
  AMASIA_HD constexpr int finished_row(int k) const {
    return UPWARDS ? end + 2 - k : first - 3 + k;
  }
};

}  // namespace amasia::srad
