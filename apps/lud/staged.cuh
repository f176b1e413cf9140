// What the three strategies on cp.async share: rings of slices, the diagonal block, and whole
// tiles of panels.
#pragma once

#include "apps/lud/blocked.cuh"
#include "apps/lud/pieces.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::lud {
namespace {

/// Starts the copies of this thread's chunks of the diagonal block.
__device__ inline void copy_block(float* lu, const Problem& p, int first, int size, int thread) {
  for (int e = thread; e < panel_width * panel_width / 4; e += block_threads) {
    const BlockChunk c(e, size);
    if (c.inside) {
      async::copy16(async::shared_address(lu + c.row * block_pitch + c.column),
                    &p.matrix.at(first + c.row, first + c.column));
    }
  }
}

/// The diagonal block, waited for at once: nothing can be computed without it.
struct AsyncChunks {
  static constexpr int cluster = 1;
  static constexpr bool pads = false;
  static __device__ bool load(unsigned char* shared, const Problem& p, int first, int size,
                              int thread) {
    copy_block(reinterpret_cast<DiagonalBlock*>(shared)->lu, p, first, size, thread);
    async::commit();
    async::wait<0>();
    __syncthreads();
    return true;
  }
};

/// Stages of slices: which one is read, and which one the copies go to.
template <class Tile>
struct Stages {
  unsigned ring;
  int count, here = 0, next = 0;

  __device__ Stages(unsigned char* shared, int stages)
      : ring(async::held_address(shared)), count(stages) {}
  __device__ unsigned at(int stage) const {
    return ring + static_cast<unsigned>(stage * Tile::slice_bytes);
  }
  __device__ unsigned slice() const { return at(here); }
  __device__ void step(int& stage) const { stage = stage + 1 == count ? 0 : stage + 1; }
};

/// A ring of three slices. Behind the last one each thread's own elements of C come, into the
/// stages that are free while the last slices are multiplied. Four of its rows fill a stage: half
/// of a large tile, or a whole small one.
template <class Tile>
struct SliceRing : WithoutMaps {
  static constexpr int stages = 3, rows_before = 0;
  static constexpr std::size_t shared_bytes = stages * Tile::slice_bytes;
  static constexpr std::size_t bytes_in_flight = (stages - 1) * Tile::slice_bytes;
  static constexpr int groups = Tile::columns_per_thread / 4;
  static constexpr int rows_per_slot = 4;
  static constexpr int per_chunk = rows_per_slot * groups / Tile::chunks;
  static_assert(rows_per_slot * groups * 16 * Tile::threads <= Tile::slice_bytes &&
                    per_chunk * Tile::chunks == rows_per_slot * groups,
                "a stage takes four rows, and each chunk brings a share of them");

  Stages<Tile> ring;
  Pieces<Tile> pieces;
  const Problem& problem;
  const TileProduct& t;
  int thread;
  int left_to_copy;  // slices; -1, -2: stages of C are in flight

  __device__ SliceRing(unsigned char* shared, View, const Problem& p, const TileProduct& tile,
                       int thread_)
      : ring(shared, stages),
        pieces(p, tile, thread_),
        problem(p),
        t(tile),
        thread(thread_),
        left_to_copy(tile.depth / Tile::k) {
#pragma unroll 1
    for (int s = 0; s < stages - 1; ++s) {
      copy_all();
      end_slice();
    }
  }
  __device__ float* element(int i, int g) const {
    return &problem.matrix.at(Tile::first_row(t, thread) + 8 * i,
                              Tile::first_column(t, thread) + 16 * g);
  }
  /// Pieces of a warp's lanes lie side by side: no bank is asked twice.
  __device__ unsigned slot(unsigned stage, int i, int g) const {
    return stage +
           static_cast<unsigned>(((i % rows_per_slot * groups + g) * Tile::threads + thread) * 16);
  }
  __device__ bool inside(int i, int g) const {
    return Tile::first_row(t, thread) + 8 * i < problem.matrix.rows &&
           Tile::first_column(t, thread) + 16 * g < problem.matrix.pitch;
  }
  /// A share of the next slice, or, behind the last one, of the thread's own elements.
  __device__ void copy(int chunk) {
    const unsigned stage = ring.at(ring.next);
    if (left_to_copy > 0) {
      pieces.share(chunk, [&](unsigned to, const float* from) { async::copy16(stage + to, from); });
    } else if (t.subtract) {
      const int first = -left_to_copy * rows_per_slot;
      if (first >= Tile::rows_per_thread) return;
#pragma unroll
      for (int k = 0; k < per_chunk; ++k) {
        const int piece = chunk * per_chunk + k;
        const int i = first + piece / groups, g = piece % groups;
        if (inside(i, g)) async::copy16(slot(stage, i, g), element(i, g));
      }
    }
  }
  __device__ void copy_all() {
#pragma unroll Tile::shares_unrolled
    for (int chunk = 0; chunk < Tile::chunks; ++chunk) copy(chunk);
  }
  __device__ void end_slice() {
    async::commit();
    pieces.next_slice();
    --left_to_copy;
    ring.step(ring.next);
  }
  __device__ unsigned slice() const { return ring.slice(); }
  __device__ void release() {
    end_slice();
    ring.step(ring.here);
  }
  __device__ void finish(const typename Tile::Accumulator& acc, int) const {
    async::wait<0>();  // this thread's own elements, nobody else's
    // The last two turns of the ring were C's; the second one was idle with a small tile.
    unsigned stage = ring.at((ring.next + 1) % stages);
#pragma unroll
    for (int i = 0; i < Tile::rows_per_thread; ++i) {
      if (i == rows_per_slot) stage = ring.at((ring.next + 2) % stages);
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        const float4 own = async::load_float4(slot(stage, i, g));
        if (inside(i, g)) {
          *reinterpret_cast<float4*>(element(i, g)) =
              less(t.subtract ? own : float4{}, &acc.c[i][4 * g]);
        }
      }
    }
  }
};

/// Slices of split panels, IN_FLIGHT of them on their way at one time; with one, each is waited for
/// at once.
template <int IN_FLIGHT>
struct CopyFeed : PieceFeed {
  static constexpr int registers = 40;
  static constexpr std::size_t bytes_in_flight = std::size_t{IN_FLIGHT} * TensorTile::slice_bytes;
  static_assert(IN_FLIGHT < TensorStages::count);

  static __device__ __forceinline__ void produce(const TensorStages& stages, const View&,
                                                 const Problem& p, const PlaceInParts& place) {
    PiecesOfParts pieces(p, place);
    TensorStages::State filling, arriving;
    int on_their_way = 0;
#pragma unroll 1
    for (int slice = 0; slice < place.slices; ++slice, ++filling) {
      stages.acquire(filling);
      const unsigned stage = async::shared_address(stages.at(filling));
      const auto copy = [&](unsigned to, const float* from) { async::copy16(stage + to, from); };
      pieces.each<0, PiecesOfParts::of_operand>(copy);
      pieces.each<PiecesOfParts::of_operand, PiecesOfParts::of_operand>(copy);
      async::commit();
      pieces.next_slice();
      if (++on_their_way < IN_FLIGHT) continue;
      async::wait<IN_FLIGHT - 1>();
      matrix::hand_over<true>(stages.full(arriving));
      ++arriving;
      --on_their_way;
    }
    async::wait<0>();
#pragma unroll 1
    for (; on_their_way > 0; --on_their_way, ++arriving) {
      matrix::hand_over<true>(stages.full(arriving));
    }
  }
};

/// When the squares of B are asked for: all at the start, or each when it is due.
enum class Ask { early, when_due };

template <Ask ASK>
struct CopiedPanel : PanelRows {
  static constexpr std::size_t bytes_in_flight = Tile::all_bytes;

  __device__ CopiedPanel(unsigned char* shared, View, const Problem& p, const TileProduct& tile,
                         int thread)
      : PanelRows(shared, p, tile, thread) {
    const auto copy = [](unsigned to, const float* from) { async::copy16(to, from); };
#pragma unroll 1
    for (int step = 0; step < Tile::steps; ++step) {
#pragma unroll 1
      for (int i = 0; i < Tile::triangles(step); ++i) {
#pragma unroll
        for (int share = 0; share < shares; ++share) bring_triangle(step, i, share, copy);
      }
    }
    if constexpr (ASK == Ask::early) {
#pragma unroll 1
      for (int step = 0; step < Tile::steps; ++step) ask_for(step);
    }
  }
  /// With the first step's square comes the triangle.
  __device__ void ask_for(int step) const {
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) {
      bring_own(step, piece, [](unsigned to, const float* from) { async::copy16(to, from); });
    }
    async::commit();
  }
  __device__ void wait(int step) const {
    if constexpr (ASK == Ask::when_due) {
      ask_for(step);
      async::wait<0>();
    } else {
      async::wait<Tile::steps - 1>();
      async::commit();  // an empty group for each that is here keeps the count right
    }
    if (step == 0) {
      __syncthreads();
    } else {
      __syncwarp();
    }
  }
};

}  // namespace
}  // namespace amasia::lud
