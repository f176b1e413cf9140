// What several movers share: a tile in shared memory that belongs to the whole block, a ring of
// them, and copies by every thread of its chunks.
#pragma once

#include "microbench/twin/kernel.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::twin {

/// Stages in shared memory, one of them current, and the tiles that are copied to them, in order.
struct Ring {
  const Work& work;
  int count;        // of the block's tiles
  int copied = 0;   // of them
  TileCursor next;  // to be copied
  float4* stages;
  int stage_chunks;
  int current = 0;  // the stage to be read next
  int last;         // the stage that was read before it: the next to be filled

  __device__ Ring(const Work& w, int chunks)
      : work(w),
        count(walk_of_block(w).count),
        next(w.shape, walk_of_block(w)),
        stages(stages_of_block()),
        stage_chunks(chunks),
        last(w.stages - 1) {}

  __device__ float4* stage(int index) const { return stages + index * stage_chunks; }
  /// Is there a tile that has not been asked for?
  __device__ bool has_next() const { return copied < count; }
  /// The next tile has been asked for.
  __device__ void asked() {
    ++copied;
    next.advance(work.shape);
  }
  /// To the next tile: call when the current one has been waited for.
  __device__ void advance() {
    last = current;
    if (++current == work.stages) current = 0;
  }
};

/// Chunks of a stage that holds whole tiles, rounded up to the 128 bytes of a tensor map.
AMASIA_HD constexpr int tile_stage_chunks(const Shape& s) { return (s.chunks() + 7) / 8 * 8; }

/// Reads of a tile that the whole block shares. `tile` is where the current one lies.
struct SharedTile {
  const float4* tile = nullptr;

  __device__ static int lane() { return partner(); }
  __device__ float4 read(int, int, int at) const { return tile[at]; }
  // A mover that has to do something there has its own.
  __device__ static void start() {}
  __device__ static void release() {}
  __device__ static void finish() {}
};

/// The chunks of a tile that this thread copies, of which it keeps in registers where they come
/// from, relative to the tile. A tile with its halo has some more chunks than results; those of a
/// large halo are worked out anew for every tile.
template <int CHUNKS>
struct OwnCopies {
  static constexpr int kept = CHUNKS == 8 ? 8 : CHUNKS + (CHUNKS + 1) / 2;
  int relative[kept];

  __device__ explicit OwnCopies(const Shape& s) {
#pragma unroll
    for (int h = 0; h < kept; ++h) relative[h] = s.relative(chunk(h));
  }
  __device__ static int chunk(int h) {
    return h * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x);
  }
};

/// One tile at a time, copied by all threads.
template <int CHUNKS>
struct OneTile : SharedTile {
  const Work& work;
  TileCursor next;
  OwnCopies<CHUNKS> own;

  __device__ explicit OneTile(const Work& w)
      : SharedTile{stages_of_block()}, work(w), next(w.shape, walk_of_block(w)), own(w.shape) {}
};

/// Starts this thread's copies of a tile.
template <int CHUNKS>
__device__ void copy_tile_async(const Work& work, const OwnCopies<CHUNKS>& own, float4* to,
                                const TileCursor& tile) {
  const Shape& s = work.shape;
  const unsigned first = async::shared_address(to);
  const auto copy = [&](int chunk, int relative) {
    async::copy16(first + 16U * static_cast<unsigned>(chunk),
                  work.in + tile.source(s, relative, work.numbers));
  };
#pragma unroll
  for (int h = 0; h < own.kept; ++h) {
    if (own.chunk(h) < s.chunks()) copy(own.chunk(h), own.relative[h]);
  }
#pragma unroll 1
  for (int h = own.kept; own.chunk(h) < s.chunks(); ++h)
    copy(own.chunk(h), s.relative(own.chunk(h)));
}

/// Waits until at most stages - 2 (2 to 4 stages) of this thread's groups are unfinished: an
/// instruction for each number, because it is part of the instruction.
__device__ inline void wait_for_oldest(int stages) {
  if (stages == 2) {
    async::wait<0>();
  } else if (stages == 3) {
    async::wait<1>();
  } else {
    async::wait<2>();
  }
}

}  // namespace amasia::twin
