// What the movers of 16-byte pieces share (baseline, register_bypass, overlap, drop_off): which
// pieces of a slice a thread brings, and a ring whose copies run ahead of the computation across
// tiles.
#pragma once

#include "apps/gemm/persistent.cuh"
#include "variants/async.cuh"

namespace amasia::gemm {
namespace {

/// A thread's share of the slices of one tile: `of_a` pieces of A, then `of_b` of B. Rows beyond
/// the matrices repeat the last one: rows of A beyond m make rows of C that are not stored, rows of
/// B beyond k meet the zeros behind the rows of A. Columns of B beyond its padding repeat likewise.
template <class Tile>
struct Pieces {
  static constexpr int of_a = Tile::a_bytes / 16 / Tile::threads;
  static constexpr int of_b = Tile::b_bytes / 16 / Tile::threads;
  static constexpr int count = of_a + of_b;
  static constexpr int b_chunks = Tile::b_row_bytes / 16;  // of a row
  static constexpr int a_stride = Tile::threads / 8;       // rows from one piece to the next
  static constexpr int b_stride = Tile::threads / b_chunks;
  static_assert(a_stride % 8 == 0, "the swizzle of A is the same for all of a thread's pieces");

  const unsigned char* a;
  const unsigned char* b;
  int a_pitch, b_pitch;   // bytes
  int last_row;           // of A that is in the matrix, counted from the thread's first
  int b_line, last_line;  // the thread's first row of B in a slice; last row of B
  unsigned shared_a, shared_b;

  __device__ Pieces(const Problem& p, int thread)
      : a_pitch(static_cast<int>(p.a.pitch)),
        b_pitch(static_cast<int>(p.b.pitch)),
        b_line(thread / b_chunks),
        last_line(static_cast<int>(p.k) - 1) {
    const int row = thread / 8, chunk = thread % 8;
    shared_a = static_cast<unsigned>(row * 128 + 16 * swizzled_chunk(row, chunk));
    shared_b = static_cast<unsigned>(Tile::a_bytes + b_line * Tile::b_row_bytes);
  }
  __device__ void enter(const Problem& p, TilePlace place, int thread) {
    const std::int64_t row = std::int64_t{place.row} * Tile::m + thread / 8;
    const std::int64_t column =
        std::int64_t{place.column} * Tile::b_row_bytes + thread % b_chunks * 16;
    last_row = static_cast<int>(p.m - 1 - row);
    a = p.a.data + row * p.a.pitch + thread % 8 * 16;
    b = p.b.data + (column < p.b.pitch ? column : p.b.pitch - 16);
  }
  /// Offsets within a tile of A, and within B from its first row, are below 2^31 (gemm's limits).
  __device__ const void* global(int slice, int piece) const {
    if (piece < of_a) {
      const int r = piece * a_stride;
      return a + std::int64_t{r < last_row ? r : last_row} * a_pitch + 128 * slice;
    }
    const int line = slice * Tile::k + b_line + (piece - of_a) * b_stride;
    return b + std::int64_t{line < last_line ? line : last_line} * b_pitch;
  }
  /// Offset in a stage, A before B.
  __device__ unsigned shared(int piece, int thread) const {
    if (piece < of_a) return shared_a + static_cast<unsigned>(piece * a_stride * 128);
    const int line = (piece - of_a) * b_stride;
    return shared_b + static_cast<unsigned>(line * Tile::b_row_bytes +
                                            16 * Tile::b_chunk(b_line + line, thread % b_chunks));
  }
};

/// Where the copies of a block are: ahead of the computation by some slices, perhaps in another
/// tile.
template <class Tile>
struct Ahead {
  const Problem& problem;
  const Walk& walk;
  std::int64_t step;
  int slice = 0;
  int stage = 0;
  Pieces<Tile> pieces;

  __device__ Ahead(const Problem& p, const Walk& w, int thread)
      : problem(p), walk(w), step(first_step(w)), pieces(p, thread) {
    if (step < walk.steps()) pieces.enter(p, walk.place(step, rank_in(walk)), thread);
  }
  __device__ bool more() const { return step < walk.steps(); }
  __device__ void advance(int stages, int thread) {
    if (++stage == stages) stage = 0;
    if (++slice < walk.slices) return;
    slice = 0;
    step += step_stride(walk);
    if (more()) pieces.enter(problem, walk.place(step, rank_in(walk)), thread);
  }
  __device__ unsigned place_in(unsigned ring) const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  /// Starts the asynchronous copy of one piece of the slice this is at.
  __device__ void copy(unsigned ring, int piece, int thread) const {
    async::copy16(place_in(ring) + pieces.shared(piece, thread), pieces.global(slice, piece));
  }
  __device__ void copy_all(unsigned ring, int thread) const {
    if (!more()) return;
#pragma unroll
    for (int piece = 0; piece < Pieces<Tile>::count; ++piece) copy(ring, piece, thread);
  }
  /// Pieces of a slice in even shares, while one of another slice's chunks is multiplied.
  static constexpr int per_chunk = (Pieces<Tile>::count + Tile::chunks - 1) / Tile::chunks;
  __device__ void copy_share(unsigned ring, int chunk, int thread) const {
    if (!more()) return;
#pragma unroll
    for (int i = 0; i < per_chunk; ++i) {
      const int piece = chunk * per_chunk + i;
      if (piece < Pieces<Tile>::count) copy(ring, piece, thread);
    }
  }
};

}  // namespace
}  // namespace amasia::gemm
