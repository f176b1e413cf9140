// What the three strategies on cp.async share: a ring of slices, and the diagonal block.
#pragma once

#include "apps/lud/blocked.cuh"
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

}  // namespace
}  // namespace amasia::lud
