// What the three strategies on cp.async share: a ring of slices, and the diagonal block.
#pragma once

#include "apps/lud/blocked.cuh"
#include "variants/async.cuh"

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

/// Stages of slices: which one is read, and which one the copies go to.
struct Stages {
  unsigned ring;
  int count, here = 0, next = 0;

  __device__ Stages(unsigned char* shared, int stages)
      : ring(async::held_address(shared)), count(stages) {}
  __device__ unsigned at(int stage) const {
    return ring + static_cast<unsigned>(stage * slice_bytes);
  }
  __device__ BlockTile::Left left(int thread) const { return {at(here), thread}; }
  __device__ unsigned b() const { return at(here) + BlockTile::a_bytes; }
  __device__ void step(int& stage) const { stage = stage + 1 == count ? 0 : stage + 1; }
};

}  // namespace
}  // namespace amasia::lud
