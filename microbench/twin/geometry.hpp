// Where the chunks of a tile come from and where they lie: the arithmetic that all strategies
// share, on the host and on the device, so that the CPU tests cover it. A chunk is 16 bytes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "harness/device.hpp"
#include "microbench/twin/traits.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::twin {

/// Division of numbers below 2^15 by a number known at launch only: a multiplication on the device.
struct Divisor {
  unsigned by = 1;
  unsigned factor = 1U << 31;  // 2^31 / by, rounded up

  Divisor() = default;
  explicit constexpr Divisor(unsigned d) : by(d), factor(((1U << 31) + d - 1) / d) {}
  AMASIA_HD constexpr unsigned quotient(unsigned n) const {
    return static_cast<unsigned>(std::uint64_t{n} * factor >> 31);
  }
};

/// A place in a tile: row and chunk of that row.
struct Place {
  int row;
  int chunk;
};

/// The shape of the work, in chunks; all that the arithmetic needs, plain data for a kernel.
struct Shape {
  int rows = 0;          // of a tile in shared memory, with its halo
  int row_chunks = 0;    // of one of those
  int inner_rows = 0;    // without the halo
  int inner_chunks = 0;  // of one of those
  int halo = 0;          // rows above and below
  int side = 0;          // chunks left and right
  int common = 0;        // rows at the start of the tile
  int out_chunks = 0;    // written per tile
  int reads = 1;
  int hop = 1;  // chunks between the reads of a tile without halo
  Layout layout = Layout::run;
  std::int64_t pitch = 0;        // chunks from a row to the next
  std::int64_t common_base = 0;  // chunks from the start of the input to the common rows
  std::int64_t tiles = 0;        // in all, a multiple of `neighbours`
  int across = 1;                // tiles side by side, layout box
  Divisor by_row{1};             // row_chunks
  Divisor by_inner_row{1};       // inner_chunks

  AMASIA_HD constexpr int chunks() const { return rows * row_chunks; }
  AMASIA_HD constexpr int inner() const { return inner_rows * inner_chunks; }
  AMASIA_HD constexpr int own_rows() const { return inner_rows - common; }

  AMASIA_HD constexpr Place place_of(int chunk) const {
    const int row = static_cast<int>(by_row.quotient(static_cast<unsigned>(chunk)));
    return {row, chunk - row * row_chunks};
  }

  /// Where output chunk i lies in the tile, and the step from there to what read k looks at: with a
  /// halo above, below, left and right, then further above and below, up to its depth.
  AMASIA_HD constexpr int start_of(int i) const {
    if (halo == 0) return i;
    const int row = static_cast<int>(by_inner_row.quotient(static_cast<unsigned>(i)));
    return (row + halo) * row_chunks + i - row * inner_chunks + side;
  }
  AMASIA_HD constexpr Place step_of(int k) const {
    if (k == 0) return {0, 0};
    const int round = 2 * halo + 2;
    const int m = k <= round ? k - 1 : (k - 1) % round;  // the division is for the rare case
    const int sign = m % 2 == 0 ? -1 : 1;
    if (m == 2 || m == 3) return {0, sign};
    return {sign * (m < 2 ? 1 : m / 2), 0};
  }
  /// The chunk of the tile that read k looks at. Without a halo reads are spread over the tile.
  AMASIA_HD constexpr int read_at(int start, int k) const {
    if (halo == 0) {
      const int at = start + k * hop;
      return at < inner() ? at : at - inner();
    }
    const Place step = step_of(k);
    return start + step.row * row_chunks + step.chunk;
  }

  /// Where a chunk of a tile comes from, relative to the tile: of a common row the complement of
  /// its place among those, of a gathered row both its numbers, else its distance from the tile's
  /// first. A thread works it out once and for all (TileCursor::source).
  AMASIA_HD constexpr int relative(int chunk) const {
    const Place p = place_of(chunk);
    if (p.row < common) return ~(p.row * inner_chunks + p.chunk);
    const int row = p.row - common;
    return layout == Layout::gather ? row * 65536 + p.chunk
                                    : row * static_cast<int>(pitch) + p.chunk;
  }

  /// Where own row `row` of a tile starts, in chunks from the start of the input; `row` counts the
  /// halo, but not the common rows. `numbers`: which row of memory a gathered row is.
  AMASIA_HD constexpr std::int64_t own_row_at(std::int64_t tile, int row,
                                              const int* numbers) const {
    if (layout == Layout::box) {
      const std::int64_t group = tile / neighbours;
      const std::int64_t band = group / across;  // of `neighbours` tiles below each other
      const std::int64_t column = group - band * across;
      return ((band * neighbours + tile % neighbours) * own_rows() + row) * pitch +
             column * inner_chunks;
    }
    const std::int64_t n = tile * own_rows() + row;
    return (layout == Layout::gather ? numbers[n] : n) * pitch;
  }
  AMASIA_HD constexpr std::int64_t common_row_at(std::int64_t tile, int row) const {
    return common_base + (tile / neighbours * common + row) * inner_chunks;
  }
  /// Where a chunk of the tile comes from.
  AMASIA_HD constexpr std::int64_t source(std::int64_t tile, int chunk, const int* numbers) const {
    if (layout == Layout::run && common == 0) return tile * inner() + chunk;
    const Place p = place_of(chunk);
    return (p.row < common ? common_row_at(tile, p.row)
                           : own_row_at(tile, p.row - common, numbers)) +
           p.chunk;
  }
};

/// The tiles of one block in one launch: neighbours have equally many, and every block `count`.
struct TileWalk {
  std::int64_t first = 0;
  std::int64_t step = 0;
  int count = 0;

  AMASIA_HD constexpr std::int64_t tile(int n) const { return first + n * step; }
};

/// Block `block` of `blocks` (multiples of `neighbours`) takes tiles [begin, end) at the stride of
/// the launch: blocks that are neighbours take tiles that are.
AMASIA_HD constexpr TileWalk walk_of(std::int64_t block, std::int64_t blocks, std::int64_t begin,
                                     std::int64_t end) {
  const std::int64_t group = block / neighbours, groups = blocks / neighbours;
  const std::int64_t of_all = (end - begin) / neighbours;
  const std::int64_t mine = group < of_all ? (of_all - group - 1) / groups + 1 : 0;
  return {begin + block, blocks, static_cast<int>(mine)};
}

/// The tiles of a block one after the other, and where they come from. It goes on by additions:
/// a real kernel has no division for each tile either.
struct TileCursor {
  std::int64_t tile;
  std::int64_t own_at = 0;     // chunks from the start of the input to the tile's first own row
  std::int64_t common_at = 0;  // and to its common rows
  std::int64_t first_row = 0;  // of the array of row numbers
  std::int64_t own_row = 0;    // of the grid, layout box
  int column = 0;              // tiles from the left, layout box

  AMASIA_HD constexpr TileCursor(const Shape& s, const TileWalk& walk)
      : tile(walk.first), step_(walk.step) {
    const std::int64_t group = tile / neighbours;
    if (s.layout == Layout::box) {
      const std::int64_t groups = step_ / neighbours;
      column = static_cast<int>(group % s.across);
      own_row = (group / s.across * neighbours + tile % neighbours) * s.own_rows();
      step_columns_ = static_cast<int>(groups % s.across);
      step_rows_ = groups / s.across * neighbours * s.own_rows();
    }
    place(s);
  }
  AMASIA_HD constexpr void advance(const Shape& s) {
    tile += step_;
    if (s.layout == Layout::box) {
      column += step_columns_;
      own_row += step_rows_;
      if (column >= s.across) {
        column -= s.across;
        own_row += neighbours * s.own_rows();
      }
    }
    place(s);
  }

  /// Where own row `row` starts; as Shape::own_row_at().
  AMASIA_HD constexpr std::int64_t own_row_at(const Shape& s, int row, const int* numbers) const {
    return s.layout == Layout::gather ? numbers[first_row + row] * s.pitch : own_at + row * s.pitch;
  }
  /// Where a chunk comes from; as Shape::source().
  AMASIA_HD constexpr std::int64_t source(const Shape& s, int relative, const int* numbers) const {
    if (relative < 0) return common_at + ~relative;
    if (s.layout == Layout::gather) {
      return numbers[first_row + (relative >> 16)] * s.pitch + (relative & 65535);
    }
    return own_at + relative;
  }

 private:
  AMASIA_HD constexpr void place(const Shape& s) {
    first_row = tile * s.own_rows();
    own_at =
        s.layout == Layout::box ? own_row * s.pitch + column * s.inner_chunks : first_row * s.pitch;
    common_at = s.common_row_at(tile, 0);
  }
  std::int64_t step_;
  std::int64_t step_rows_ = 0;
  int step_columns_ = 0;
};

/// The shape that has these traits. The input is as large as they ask, less what is not divided.
inline Shape shape_of(const Traits& t) {
  Shape s;
  s.halo = static_cast<int>(t.halo);
  s.side = static_cast<int>(ceil_div(t.halo * 4, 16));
  s.inner_rows = static_cast<int>(t.rows);
  s.inner_chunks = static_cast<int>(t.row_bytes / 16);
  s.rows = s.inner_rows + 2 * s.halo;
  s.row_chunks = s.inner_chunks + 2 * s.side;
  s.common = static_cast<int>(t.common);
  s.out_chunks = static_cast<int>(t.out_bytes / 16);
  s.reads = static_cast<int>(t.reads);
  s.hop = std::max(1, s.inner() / s.reads);
  s.layout = t.layout_kind();
  s.by_row = Divisor(static_cast<unsigned>(s.row_chunks));
  s.by_inner_row = Divisor(static_cast<unsigned>(s.inner_chunks));
  const std::int64_t wanted = t.mebibytes * ((1 << 20) / 16) / s.inner();
  const std::int64_t groups = std::max<std::int64_t>(1, wanted / neighbours);
  s.tiles = groups * neighbours;
  s.pitch = s.inner_chunks;
  std::int64_t rows_in_memory = s.tiles * s.own_rows();
  if (s.layout == Layout::box) {
    // About as wide as 64 KiB, which is more than a page of DRAM holds, so that rows below each
    // other are far apart; and fewer tiles where they do not fill whole bands.
    constexpr std::int64_t width = 65536 / 16;
    const auto across = std::clamp<std::int64_t>(width / s.inner_chunks, 1, groups);
    s.across = static_cast<int>(across);
    const std::int64_t bands = groups / across;
    s.tiles = bands * across * neighbours;
    s.pitch = across * s.inner_chunks + 2 * s.side;
    rows_in_memory = bands * neighbours * s.own_rows() + 2 * s.halo;
  }
  s.common_base = rows_in_memory * s.pitch;
  return s;
}

/// Rows of memory that hold the tiles' own rows, and chunks of the whole input.
inline std::int64_t rows_in_memory(const Shape& s) { return s.common_base / s.pitch; }
inline std::int64_t input_chunks(const Shape& s) {
  return s.common_base + s.tiles / neighbours * s.common * s.inner_chunks;
}

/// Chunks that a thread computes on, a template parameter of the kernels: 1, 2, 4 or 8.
inline int chunks_per_thread(const Shape& s, std::int64_t threads) {
  return s.inner() <= threads ? 1 : static_cast<int>(s.inner() / threads);
}

/// Blocks that an SM holds when each thread has as many registers as the real kernel's, or those
/// of the twin where it has more: they are given to warps in units of 256. 0: not even one.
inline std::int64_t blocks_by_registers(const Traits& t, const Device& d) {
  const std::int64_t own = twin_registers(chunks_per_thread(shape_of(t), t.threads));
  const std::int64_t of_warp = round_up(std::max(t.registers, own) * 32, 256);
  return std::min<std::int64_t>(d.registers_per_sm / of_warp / (t.threads / 32),
                                d.max_threads_per_sm / t.threads);
}

/// Dynamic shared memory of a block that needs `needed` bytes, enlarged so that an SM holds no more
/// than `blocks`. (The twin itself has fewer registers than a real kernel may have.)
inline std::size_t padded_shared(std::size_t needed, std::int64_t blocks, const Device& d) {
  if (blocks >= d.max_threads_per_sm / 32) return needed;
  const std::size_t room = d.shared_per_sm / static_cast<std::size_t>(blocks + 1);
  if (room < d.shared_reserved) return needed;
  const std::size_t least = room - d.shared_reserved + 1;
  // With one block for all of the SM's memory, the most that a block can have is enough.
  return std::max(needed, std::min(least, d.shared_per_block));
}

}  // namespace amasia::twin
