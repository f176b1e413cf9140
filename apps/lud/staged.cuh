// What the three strategies on cp.async share: pieces of a slice into a stage, and the diagonal
// block.
#pragma once

#include "apps/lud/blocked.cuh"
#include "variants/async.cuh"

namespace amasia::lud {
namespace {

/// Starts the copies of this thread's share of slice `s` into `stage`.
__device__ __forceinline__ void copy_slice(float* stage, const Pieces& pieces, int s) {
#pragma unroll
  for (int i = 0; i < Pieces::count; ++i) {
    async::copy16(async::shared_address(stage + pieces.shared(i)), pieces.global(s, i));
  }
}

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

}  // namespace
}  // namespace amasia::lud
