// What several movers share: a tile in shared memory that belongs to the whole block, a ring of
// them, and copies by every thread of its chunks.
#pragma once

#include "microbench/twin/kernel.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::twin {

/// Stages in shared memory, one of them current.
struct Ring {
  const Work& work;
  TileWalk walk;
  float4* stages;
  int stage_chunks;
  int current = 0;  // the stage to be read next
  int last;         // the stage that was read before it: the next to be filled

  __device__ Ring(const Work& w, int chunks)
      : work(w),
        walk(walk_of_block(w)),
        stages(stages_of_block()),
        stage_chunks(chunks),
        last(w.stages - 1) {}

  __device__ float4* stage(int index) const { return stages + index * stage_chunks; }
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
  __device__ float4 read(const Shape& s, int i, int k) const { return tile[s.read_at(i, k)]; }
};

/// Starts this thread's copies of a tile.
template <int CHUNKS>
__device__ void copy_tile_async(const Work& work, float4* to, std::int64_t tile) {
  const unsigned first = async::shared_address(to);
  const int count = work.shape.chunks();
#pragma unroll CHUNKS
  for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) {
    async::copy16(first + 16U * static_cast<unsigned>(i),
                  work.in + work.shape.source(tile, i, work.numbers));
  }
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
