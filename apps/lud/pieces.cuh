// What the movers without bulk copies share: which 16-byte pieces of the operands a thread brings,
// and how its elements of C reach global memory.
#pragma once

#include "apps/lud/diagonal.cuh"
#include "apps/lud/panel.cuh"

namespace amasia::lud {
namespace {

/// Of movers of one block that need no tensor maps.
struct WithoutMaps {
  struct View {};
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = 1;
};

__device__ inline Grid<float> grid_of(const Problem& p, Source source) {
  return source == Source::matrix ? p.matrix : source == Source::lower ? p.lower : p.upper;
}

/// The 16-byte pieces of the operands that a thread brings: of a slice first those of A, then
/// those of B, as many rows apart as the block brings at once. Rows and columns beyond the matrix
/// repeat one inside: what they produce is never stored, and no operand is incomplete in the
/// direction that is summed over. Running pointers, and one stride in shared memory for both
/// operands: registers and issue slots that are spent here are missing in the inner product.
template <class Tile>
struct Pieces;

template <>
struct Pieces<BlockTile> {
  using Tile = BlockTile;
  static constexpr int of_a = Tile::a_bytes / 16 / Tile::threads;
  static constexpr int of_b = Tile::b_bytes / 16 / Tile::threads;
  static constexpr int count = of_a + of_b;
  static constexpr int per_chunk = count / Tile::chunks;
  static constexpr int most_chunks = Tile::chunks;  // of a slice that bring any
  static constexpr int a_rows = Tile::threads / (Tile::k / 4);
  static constexpr int b_rows = Tile::threads / (Tile::n / 4);
  static constexpr int stride = a_rows * Tile::k * 4;
  static_assert(stride == b_rows * Tile::n * 4, "pieces of A and of B lie equally far apart");
  static_assert(of_a % per_chunk == 0 && per_chunk * Tile::chunks == count,
                "each chunk of the inner product brings a share, of one operand");

  const float* a;     // first piece of the slice's A
  const float* b;     // of its B
  const float* from;  // next piece
  int step;
  int a_step, b_step;  // elements from piece to piece
  int rows_below, rows_left;
  unsigned to_a, to_b, to;  // first pieces in a stage, and the next one

  __device__ Pieces(const Problem& p, const TileProduct& t, int thread) {
    const Grid<float> left = grid_of(p, t.a_source), right = grid_of(p, t.b_source);
    const int row = thread / (Tile::k / 4), chunk = thread % (Tile::k / 4);
    const int line = thread / (Tile::n / 4);
    const int last = static_cast<int>(left.rows) - 1 - t.a_row;
    a = &left.at(t.a_row + (row < last ? row : last), t.a_column + 4 * chunk);
    rows_below = last - row;
    a_step = a_rows * static_cast<int>(left.pitch);
    const int last_column = static_cast<int>(right.pitch) - 4;
    const int column = t.b_column + thread % (Tile::n / 4) * 4;
    b = &right.at(t.b_row + line, column < last_column ? column : last_column);
    b_step = b_rows * static_cast<int>(right.pitch);
    to_a = static_cast<unsigned>(row * Tile::k * 4 + 16 * swizzled_chunk(row, chunk));
    to_b = static_cast<unsigned>(Tile::a_bytes + thread * 16);
    repeat_slice();
  }
  /// move(place in the stage, source) for the pieces that are due with a chunk.
  template <class Move>
  __device__ __forceinline__ void share(int chunk, Move&& move) {
    if (chunk == of_a / per_chunk) {  // a few selects; a branch would have loads waited for
      from = b;
      to = to_b;
      step = b_step;
      rows_left = of_b * a_rows;
    }
#pragma unroll
    for (int i = 0; i < per_chunk; ++i, to += stride) {
      move(to, from);
      rows_left -= a_rows;
      if (rows_left >= 0) from += step;
    }
  }
  __device__ void next_slice() {
    a += Tile::k;
    b += static_cast<std::int64_t>(of_b) * b_step;
    repeat_slice();
  }
  /// The same slice again, where there is no next one.
  __device__ void repeat_slice() {
    from = a;
    to = to_a;
    step = a_step;
    rows_left = rows_below;
  }
};

/// A small tile's: with each chunk one box, of which a thread brings 16 bytes of two rows.
template <>
struct Pieces<ChainTile> {
  using Tile = ChainTile;
  static constexpr int per_chunk = 2;
  static constexpr int most_chunks = Tile::most_boxes;
  static constexpr int rows_at_once = Tile::box / per_chunk;
  static constexpr int stride = Tile::box_bytes / per_chunk;
  static_assert(Tile::threads * 16 == stride && Tile::most_boxes <= Tile::chunks);

  const float *a, *b;  // the thread's first pieces, of row 0 of the boxes
  int a_pitch, b_pitch;
  int row, last_row, last_column;  // the last ones: from the first ones on
  int boxes_of_a, boxes;
  int k = 0;  // of the slice
  unsigned to_a, to_b;

  __device__ Pieces(const Problem& p, const TileProduct& t, int thread)
      : row(thread / 8), boxes_of_a(Tile::boxes_of_a(t)), boxes(boxes_of_a + Tile::boxes_of_b(t)) {
    const Grid<float> left = grid_of(p, t.a_source), right = grid_of(p, t.b_source);
    const int chunk = thread % 8;
    a = &left.at(t.a_row, t.a_column + 4 * chunk);
    a_pitch = static_cast<int>(left.pitch);
    last_row = static_cast<int>(left.rows) - 1 - t.a_row;
    b = &right.at(t.b_row, t.b_column + 4 * chunk);
    b_pitch = static_cast<int>(right.pitch);
    last_column = b_pitch - 4 - (t.b_column + 4 * chunk);
    to_a = static_cast<unsigned>(row * Tile::k * 4 + 16 * swizzled_chunk(row, chunk));
    to_b = static_cast<unsigned>(thread * 16);
  }
  template <class Move>
  __device__ __forceinline__ void share(int chunk, Move&& move) {
    if (chunk >= boxes) return;
    const bool of_left = chunk < boxes_of_a;
    const unsigned to = (of_left ? to_a : to_b) + static_cast<unsigned>(chunk) * Tile::box_bytes;
#pragma unroll
    for (int i = 0; i < per_chunk; ++i) {
      const float* from;
      if (of_left) {
        const int at = chunk * Tile::box + i * rows_at_once + row;
        from = a + static_cast<std::int64_t>(at < last_row ? at : last_row) * a_pitch + k;
      } else {
        const int at = (chunk - boxes_of_a) * Tile::box;
        from = b + static_cast<std::int64_t>(k + i * rows_at_once + row) * b_pitch +
               (at < last_column ? at : last_column);
      }
      move(to + i * stride, from);
    }
  }
  __device__ void next_slice() { k += Tile::k; }
  __device__ void repeat_slice() const {}
};

template <>
struct Pieces<SolveTile> : Pieces<ChainTile> {
  using Pieces<ChainTile>::Pieces;
};

/// The thread's elements of the result, straight from and to global memory; the old elements of
/// four rows are asked for at once. Rows of the padding may be overwritten, so only rows need a
/// look.
template <class Tile, bool WHOLE>
__device__ __forceinline__ void finish_in_global(const typename Tile::Accumulator& acc,
                                                 const Grid<float>& matrix, const TileProduct& t,
                                                 int thread) {
  const int row = Tile::first_row(t, thread), column = Tile::first_column(t, thread);
  const int rows_left = static_cast<int>(matrix.rows) - row;
  const int columns_left = static_cast<int>(matrix.pitch) - column;
  const std::int64_t stride = 8 * matrix.pitch;
  float* c = &matrix.at(row, column);
  const auto inside = [&](int i, int g) {
    return WHOLE || (8 * i < rows_left && 16 * g < columns_left);
  };
  constexpr int at_once = 4, groups = Tile::columns_per_thread / 4;
#pragma unroll
  for (int first = 0; first < Tile::rows_per_thread; first += at_once, c += at_once * stride) {
    float4 old[at_once][groups] = {};
    if (t.subtract) {
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
#pragma unroll
        for (int g = 0; g < groups; ++g) {
          if (inside(first + i, g)) {
            old[i][g] = *reinterpret_cast<const float4*>(c + i * stride + 16 * g);
          }
        }
      }
    }
#pragma unroll
    for (int i = 0; i < at_once; ++i) {
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        if (inside(first + i, g)) {
          *reinterpret_cast<float4*>(c + i * stride + 16 * g) =
              less(old[i][g], &acc.c[first + i][4 * g]);
        }
      }
    }
  }
}

template <class Tile>
__device__ __forceinline__ void finish_in_global(const typename Tile::Accumulator& acc,
                                                 const Grid<float>& matrix, const TileProduct& t,
                                                 int thread) {
  if (t.c_row + t.rows <= matrix.rows && t.c_column + t.columns <= matrix.pitch) {
    finish_in_global<Tile, true>(acc, matrix, t, thread);
  } else {
    finish_in_global<Tile, false>(acc, matrix, t, thread);
  }
}

/// Whole tiles of panels: which 16-byte pieces a thread brings, and how a warp's solved square
/// reaches global memory. The block brings the triangle together; each warp brings its own squares
/// of B, so that after the first step it waits for itself alone.
struct PanelRows : WithoutMaps {
  using Tile = PanelTile;
  static constexpr std::size_t shared_bytes = Tile::all_bytes;
  static constexpr int chunks = warp_edge / 4;             // of a row
  static constexpr int rows_of_warp = 32 / chunks;         // that a warp brings at once
  static constexpr int pieces = warp_edge / rows_of_warp;  // of a lane, of its own square
  static constexpr int shares = pieces / Tile::warps;      // of a thread, of one of T
  static constexpr int triangles = Tile::steps * (Tile::steps + 1) / 2;  // squares of T

  unsigned first;  // shared address of the squares
  const Problem& problem;
  const TileProduct& t;
  int warp, row, chunk;  // the lane's first piece of its warp's square

  __device__ PanelRows(unsigned char* shared, const Problem& p, const TileProduct& tile, int thread)
      : first(async::shared_address(shared)),
        problem(p),
        t(tile),
        warp(thread / 32),
        row(thread % 32 / chunks),
        chunk(thread % chunks) {}

  /// move(shared address, source) for share `share` of the thread's pieces of square (step, i) of
  /// the triangle, which lies in the scratch blocks and is always complete.
  template <class Move>
  __device__ __forceinline__ void bring_triangle(int step, int i, int share, Move&& move) const {
    const PanelSquare from = Tile::triangle(t, step, i);
    const int line = (share * Tile::warps + warp) * rows_of_warp + row;
    const Grid<float> grid = grid_of(problem, from.source);
    move(address(first + Tile::place(step, i), line, from.permuted),
         &grid.at(from.row + line, from.column + 4 * chunk));
  }
  /// move(shared address, source) for piece `piece` of the lane's, of its warp's square of B. Rows
  /// and columns beyond the matrix repeat one inside; what they produce is never stored.
  template <class Move>
  __device__ __forceinline__ void bring_own(int step, int piece, Move&& move) const {
    const PanelSquare from = Tile::x(t, step, warp);
    const int line = piece * rows_of_warp + row;
    const int last_row = static_cast<int>(problem.matrix.rows) - 1;
    const int last_column = static_cast<int>(problem.matrix.pitch) - 4;
    const int i = from.row + line, j = from.column + 4 * chunk;
    move(address(first + Tile::place_of_x(step, warp), line, true),
         &problem.matrix.at(i < last_row ? i : last_row, j < last_column ? j : last_column));
  }
  __device__ void store(int step) const {
    const PanelSquare to = Tile::x(t, step, warp);
    const int column = to.column + 4 * chunk;
    if (column >= problem.matrix.pitch) return;
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) {
      const int line = piece * rows_of_warp + row;
      const float4 v =
          async::load_float4(address(first + Tile::place_of_x(step, warp), line, true));
      if (to.row + line < problem.matrix.rows) {
        *reinterpret_cast<float4*>(&problem.matrix.at(to.row + line, column)) = v;
      }
    }
  }
  __device__ void finish() const {}

 private:
  __device__ unsigned address(unsigned square, int line, bool permuted) const {
    return square + static_cast<unsigned>(line * Tile::k * 4 +
                                          16 * (permuted ? swizzled_chunk(line, chunk) : chunk));
  }
};

}  // namespace
}  // namespace amasia::lud
