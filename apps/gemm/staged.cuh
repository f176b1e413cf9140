// What the movers of 16-byte pieces share (baseline, register_bypass, overlap, drop_off): which
// pieces of a slice a thread brings, and a ring whose copies run ahead of the computation across
// tiles.
#pragma once

#include <numeric>

#include "apps/gemm/specialised.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::gemm {
namespace {

/// Where the 16-byte chunk `chunk` of row `line` of B lies in a stage's B: in rows as in global
/// memory. For wgmma it is in boxes of 128 bytes a row, as the engine would put it. Layout tn has
/// one box.
template <class Tile>
AMASIA_HD constexpr int b_place(int line, int chunk) {
  if constexpr (Tile::asynchronous) {
    return chunk / 8 * (Tile::k * 128) + line * 128 + 16 * swizzled_chunk(line, chunk % 8);
  } else {
    return line * Tile::b_row_bytes + 16 * Tile::b_chunk(line, chunk);
  }
}
/// From a row to the next, of one chunk.
template <class Tile>
inline constexpr int b_line_bytes = Tile::asynchronous ? 128 : Tile::b_row_bytes;

/// A thread's share of a slice: `of_a` pieces of A, then `of_b` of B, each some rows below the
/// last. The threads may be too few for eight rows of B at one time, in which the engine's
/// permutation repeats: they then bring the rows of some boxes of it, pass by pass.
template <class Tile>
struct Pieces {
  static constexpr int of_a = Tile::a_bytes / 16 / Tile::threads;
  static constexpr int of_b = Tile::b_bytes / 16 / Tile::threads;
  static constexpr int count = of_a + of_b;
  static constexpr int b_row_chunks = Tile::b_row_bytes / 16;
  // Of a row, in one pass.
  static constexpr int b_chunks =
      Tile::asynchronous ? std::gcd(b_row_chunks, Tile::threads / 8) : b_row_chunks;
  static constexpr int b_passes = b_row_chunks / b_chunks, of_pass = of_b / b_passes;
  static_assert(b_passes * b_chunks == b_row_chunks && b_passes * of_pass == of_b);
  static_assert(b_passes == 1 || b_chunks % 8 == 0, "a pass brings boxes whole");
  static constexpr int a_rows = Tile::threads / 8;  // from one piece to the next
  static constexpr int b_rows = Tile::threads / b_chunks;
  /// Pieces in even shares, while a slice's chunks are multiplied.
  static constexpr int per_chunk = (count + Tile::chunks - 1) / Tile::chunks;
  static_assert(of_a % per_chunk == 0 && of_pass % per_chunk == 0,
                "a share is of one operand, and of one pass");
  AMASIA_HD static constexpr bool due(int chunk) { return (chunk + 1) * per_chunk <= count; }
  /// Is `piece` the first one of a pass of B behind the first?
  AMASIA_HD static constexpr bool begins_pass(int piece) {
    return b_passes > 1 && piece > of_a && (piece - of_a) % of_pass == 0;
  }
  static_assert(a_rows % 8 == 0 &&
                    b_place<Tile>(b_rows, 1) == b_place<Tile>(0, 1) + b_rows * b_line_bytes<Tile>,
                "chunks are permuted alike in all rows of a thread's pieces");
};

/// Where a thread's pieces of one operand lie in global memory. Rows beyond the matrix repeat one
/// inside. Rows of A beyond m make rows of C that are not stored. Rows of B beyond k meet the zeros
/// behind the rows of A; in layout tn they make columns of C that are not stored.
struct Source {
  const unsigned char* at;
  int rows_left;    // below this one
  int rows, bytes;  // from piece to piece
  __device__ const void* take() {
    const void* const now = at;
    rows_left -= rows;
    if (rows_left >= 0) at += bytes;
    return now;
  }
};

/// Where they go in a stage.
template <class Tile>
struct Target {
  unsigned a, b, at = 0;  // the thread's first pieces of A and B in the first stage
  int piece = 0;
  __device__ Target(unsigned ring, int thread) {
    const int row = thread / 8, line = thread / Pieces<Tile>::b_chunks;
    a = ring + static_cast<unsigned>(row * 128 + 16 * swizzled_chunk(row, thread % 8));
    b = ring +
        static_cast<unsigned>(Tile::a_bytes + b_place<Tile>(line, thread % Pieces<Tile>::b_chunks));
  }
  __device__ void enter(int stage) {
    at = a + static_cast<unsigned>(stage * Tile::slice_bytes);
    piece = 0;
  }
  /// Past the pieces of A, in a ring of B alone.
  __device__ void enter_b(int stage) {
    at = b + static_cast<unsigned>(stage * Tile::b_bytes);
    piece = Pieces<Tile>::of_a;
  }
  /// The next COUNT pieces, all of one operand: visit(place) for each.
  template <int COUNT, class Visit>
  __device__ void take(Visit&& visit) {
    const bool of_a = piece < Pieces<Tile>::of_a;
    const unsigned stride =
        of_a ? Pieces<Tile>::a_rows * 128 : Pieces<Tile>::b_rows * b_line_bytes<Tile>;
#pragma unroll
    for (int i = 0; i < COUNT; ++i, at += stride) visit(at);
    piece += COUNT;
    if (piece == Pieces<Tile>::of_a) at += b - a - Tile::a_bytes;
    if (Pieces<Tile>::begins_pass(piece)) {
      at += Tile::k * 128 * (Pieces<Tile>::b_chunks / 8 - 1);  // all rows of a box are behind it
    }
  }
};

/// What else tells where a thread is in B. Layout tn, whose rows are the tile's columns: how many
/// are below its first, in the matrix. Layout nn in several passes: its first column, in bytes.
template <Layout LAYOUT, bool PASSES>
struct PlaceInB {};
template <bool PASSES>
struct PlaceInB<Layout::tn, PASSES> {
  int b_rows_below = 0;
};
template <>
struct PlaceInB<Layout::nn, true> {
  std::int64_t b_column = 0;
};

/// Where the copies of a block are: ahead of the computation by some slices, perhaps in another
/// tile.
template <class Tile, class Walk>
struct Ahead : PlaceInB<Tile::layout, (Pieces<Tile>::b_passes > 1)> {
  using P = Pieces<Tile>;
  const Problem& problem;
  const Walk& walk;
  typename Walk::Position at;
  int stage = 0;
  int piece = 0;
  const unsigned char* a = nullptr;  // the thread's first pieces, of slice 0
  const unsigned char* b = nullptr;
  int rows_below = 0;  // of A, in the matrix
  Source source{};

  __device__ Ahead(const Problem& p, const Walk& w, int thread)
      : problem(p), walk(w), at(w, first_step(w)) {
    enter(thread);
  }
  __device__ bool more() const { return at.more(walk); }
  __device__ void enter(int thread) {
    if (!more()) return;
    const TilePlace place = walk.place(at.step, rank_in(walk));
    const int row = place.row * rows_of_a<Tile> + thread / 8;
    const int last = static_cast<int>(problem.a.rows) - 1;
    const std::int64_t column =
        std::int64_t{place.column} * Tile::b_row_bytes + thread % P::b_chunks * 16;
    rows_below = row < last ? last - row : 0;
    a = problem.a.data + (row < last ? row : last) * problem.a.pitch + thread % 8 * 16;
    if constexpr (Tile::layout == Layout::tn) {
      enter_transposed(place.column * extent_of_b<Tile> + thread / 8, thread);
    } else {
      b = column_of_b(column);
      if constexpr (P::b_passes > 1) this->b_column = column;
    }
    begin();
  }
  /// Row 0 of B from this byte on, or, beyond the matrix, from its last piece.
  __device__ const unsigned char* column_of_b(std::int64_t at_byte) const {
    return problem.b.data + (at_byte < problem.b.pitch ? at_byte : problem.b.pitch - 16);
  }
  __device__ void enter_transposed(int row, int thread) {
    const int last = static_cast<int>(problem.b.rows) - 1;
    this->b_rows_below = row < last ? last - row : 0;
    b = problem.b.data + (row < last ? row : last) * problem.b.pitch + thread % 8 * 16;
  }
  __device__ void begin() {
    piece = 0;
    source = {a + 128 * at.slice, rows_below, P::a_rows,
              P::a_rows * static_cast<int>(problem.a.pitch)};
  }
  __device__ void begin_b(int thread) {
    if constexpr (Tile::layout == Layout::tn) {
      source = {b + 128 * at.slice, this->b_rows_below, P::b_rows,
                P::b_rows * static_cast<int>(problem.b.pitch)};
    } else {
      const int line = at.slice * Tile::k + thread / P::b_chunks,
                last = static_cast<int>(problem.k) - 1;
      const unsigned char* top = b;
      if constexpr (P::b_passes > 1) {
        if (P::begins_pass(piece)) {
          top = column_of_b(this->b_column + (piece - P::of_a) / P::of_pass * (16 * P::b_chunks));
        }
      }
      source = {top + (line < last ? line : last) * problem.b.pitch, last - line, P::b_rows,
                P::b_rows * static_cast<int>(problem.b.pitch)};
    }
  }
  __device__ void skip_a() { piece = P::of_a; }
  /// Where the next pieces of this slice come from; call before each `per_chunk` of them.
  __device__ Source& pieces_from(int count, int thread) {
    if (piece == P::of_a || P::begins_pass(piece)) begin_b(thread);
    piece += count;
    return source;
  }
  __device__ void next_slice(int stages, int thread) {
    if (++stage == stages) stage = 0;
    if (!at.advance(walk, step_stride(walk))) return begin();
    enter(thread);
  }
};

/// Asynchronous copies of slices into a ring.
template <class Tile, class Walk>
struct Copies {
  Ahead<Tile, Walk> ahead;
  Target<Tile> target;
  int thread, stages;

  __device__ Copies(unsigned ring, const Problem& p, const Walk& walk, int count)
      : ahead(p, walk, static_cast<int>(threadIdx.x)),
        target(ring, static_cast<int>(threadIdx.x)),
        thread(static_cast<int>(threadIdx.x)),
        stages(count) {
    target.enter(0);
  }
  __device__ void start_slice() {
#pragma unroll
    for (int chunk = 0; chunk < Pieces<Tile>::count / Pieces<Tile>::per_chunk; ++chunk) {
      start_share(chunk);
    }
  }
  __device__ void start_share(int chunk) {
    if (!ahead.more() || !Pieces<Tile>::due(chunk)) return;
    Source& from = ahead.pieces_from(Pieces<Tile>::per_chunk, thread);
    target.template take<Pieces<Tile>::per_chunk>(
        [&](unsigned to) { async::copy16(to, from.take()); });
  }
  /// Closes the group of the slice.
  __device__ void end_slice() {
    async::commit();
    ahead.next_slice(stages, thread);
    target.enter(ahead.stage);
  }
};

/// A tile as the threads of one producing warpgroup see it (specialised.cuh).
template <class Tile>
struct FedByOneWarpgroup : Tile {
  static constexpr int threads = warpgroup;
};

/// What producers of pieces have in common.
template <class TileT, class WalkT>
struct PieceProducer : WithoutMaps, ForOneBlock {
  using Tile = TileT;
  using Walk = WalkT;
  using Fed = FedByOneWarpgroup<Tile>;
  static constexpr int producer_warps = warpgroup / 32, arrivals = producer_warps;
};

/// Slices by cp.async, IN_FLIGHT of them on their way at one time; with one, each is waited for at
/// once.
template <class Tile, class Walk, int IN_FLIGHT>
struct CopyProducer : PieceProducer<Tile, Walk> {
  static constexpr int registers = 40, bytes_in_flight = IN_FLIGHT * Tile::slice_bytes;
  // A slice is released when the next one is being multiplied, so that one has to be there.
  static_assert(IN_FLIGHT < Stages<Tile>::count);

  static __device__ __forceinline__ void produce(const Stages<Tile>& stages, NoMaps,
                                                 const Problem& p, const Walk& walk) {
    Copies<FedByOneWarpgroup<Tile>, Walk> copies(async::shared_address(stages.slices), p, walk,
                                                 Stages<Tile>::count);
    typename Stages<Tile>::State filling, arriving;
    int on_their_way = 0;
#pragma unroll 1
    for (; copies.ahead.more(); ++filling) {
      stages.acquire(filling);
      if (threadIdx.x == 0) describe(stages, filling, p, walk, copies.ahead.at);
      copies.start_slice();
      copies.end_slice();
      if (++on_their_way < IN_FLIGHT) continue;
      async::wait<IN_FLIGHT - 1>();
      hand_over<Tile::asynchronous>(stages.full(arriving));
      ++arriving;
      --on_their_way;
    }
    async::wait<0>();
#pragma unroll 1
    for (; on_their_way > 0; --on_their_way, ++arriving) {
      hand_over<Tile::asynchronous>(stages.full(arriving));
    }
  }
};

}  // namespace
}  // namespace amasia::gemm
