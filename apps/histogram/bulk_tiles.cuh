// Tiles of keys by bulk copies into a ring, for tma and dsm: one thread asks for a tile, the copy
// engine brings it and counts its bytes on an mbarrier, and threads spend nothing on addresses.
#pragma once

#include "apps/histogram/counting.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::histogram {

/// Barriers of a ring.
template <class S>
struct RingBarriers {
  tma::Barrier full[S::stages];   // the tile's bytes
  tma::Barrier empty[S::stages];  // one arrival per warp that has read it
};

/// The first thread asks for tiles. It waits for the slowest reader of a stage, which the others
/// may be ahead of by the rest of the ring.
template <class S>
struct BulkTiles {
  const Run& run;
  uint4* ring;  // (stages, chunks, threads)
  RingBarriers<S>& barriers;
  int tiles = 0;
  int stage = 0;
  unsigned parity = 0;

  /// By all threads; a block barrier follows inside.
  __device__ void prepare() {
    if (threadIdx.x == 0) {
      for (int s = 0; s < S::stages; ++s) {
        tma::init(&barriers.full[s], 1);
        tma::init(&barriers.empty[s], S::warps);
      }
      tma::fence_init();
    }
    __syncthreads();
  }
  __device__ void ask(int n, int into) {
    tma::expect(&barriers.full[into], S::tile_bytes);
    tma::load_bytes(ring + into * S::tile_chunks, run.tile<S>(n), S::tile_bytes,
                    &barriers.full[into]);
  }
  __device__ void begin(int count) {
    tiles = count;
    if (threadIdx.x == 0) {
      for (int n = 0; n < S::stages - 1 && n < tiles; ++n) ask(n, n);
    }
  }
  __device__ void acquire(int n) {
    const int later = n + S::stages - 1;
    if (threadIdx.x == 0 && later < tiles) {
      const int into = stage == 0 ? S::stages - 1 : stage - 1;
      // The tile there before was n - 1: read in the pass of the ring before this one if stage 0
      // is to come, else in this one.
      if (n > 0) tma::wait(&barriers.empty[into], stage == 0 ? parity ^ 1 : parity);
      ask(later, into);
    }
    __syncwarp();
    tma::wait(&barriers.full[stage], parity);
  }
  __device__ uint4 chunk(int c) const {
    return ring[stage * S::tile_chunks + c * S::threads + threadIdx.x];
  }
  __device__ void release(int) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(&barriers.empty[stage]);
    if (++stage == S::stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace amasia::histogram
