// What the movers without bulk copies share: which 16-byte pieces of the operands a thread brings,
// and how its elements of C reach global memory.
#pragma once

#include "apps/lud/diagonal.cuh"
#include "apps/lud/tiles.cuh"

namespace amasia::lud {
namespace {

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

}  // namespace
}  // namespace amasia::lud
