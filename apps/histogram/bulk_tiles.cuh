// Tiles of keys by bulk copies into a ring, for tma and dsm: one thread asks for a tile, the copy
// engine brings it and counts its bytes on an mbarrier, and threads spend nothing on addresses.
#pragma once

#include "apps/histogram/counting.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::histogram {

/// Stages in front of the counters, and their barriers.
template <class C>
struct BulkStorage {
  alignas(128) uint4 tiles[C::stages][C::tile_chunks];
  tma::Barrier full[C::stages];   // the tile's bytes
  tma::Barrier empty[C::stages];  // one arrival per warp that has read it
};

/// The asking thread is the block's first, which also counts and waits for the slowest reader of a
/// stage; or the first of a producer warp.
template <class CONFIG, class Source>
struct BulkPipeline {
  using C = CONFIG;
  using Storage = BulkStorage<C>;
  const Source& source;
  Storage& shared;
  int tiles;
  PipelineState<C::stages> state{};

  __device__ void init() {
    if (threadIdx.x != 0) return;
    for (int s = 0; s < C::stages; ++s) {
      tma::init(&shared.full[s], 1);
      tma::init(&shared.empty[s], C::warps);
    }
    tma::fence_init();
  }
  __device__ void ask(int n, int index) {
    if constexpr (C::l2_ahead > 0) {
      if (n + C::l2_ahead < tiles) {
        tma::prefetch_bytes(source.template tile<C>(n + C::l2_ahead), C::tile_bytes);
      }
    }
    tma::expect(&shared.full[index], C::tile_bytes);
    tma::load_bytes(shared.tiles[index], source.template tile<C>(n), C::tile_bytes,
                    &shared.full[index]);
  }

  /// The whole of a producer warp's work, by one thread of it.
  __device__ void produce_all() {
    for (int n = 0; n < tiles; ++n, ++state) {
      tma::wait(&shared.empty[state.index], state.phase ^ 1);  // producer_acquire
      ask(n, state.index);
    }
  }
  /// By all threads, with a block barrier inside. Without producer warps, the first stages - 1
  /// tiles are asked for.
  __device__ void prologue() {
    init();
    __syncthreads();
    if constexpr (C::producer_warps == 0) {
      if (threadIdx.x != 0) return;
      for (int n = 0; n < C::stages - 1 && n < tiles; ++n) ask(n, n);
    }
  }
  /// Then tile n + stages - 1 into the stage where tile n - 1 was.
  __device__ void produce(int n) {
    const int later = n + C::stages - 1;
    if (threadIdx.x == 0 && later < tiles) {
      const auto last = state.before();
      if (n > 0) tma::wait(&shared.empty[last.index], last.phase);  // producer_acquire
      ask(later, last.index);
    }
    __syncwarp();
  }

  __device__ void consumer_wait() { tma::wait(&shared.full[state.index], state.phase); }
  /// Before tile n is counted.
  __device__ void next(int n) {
    if constexpr (C::producer_warps == 0) produce(n);
    consumer_wait();
  }
  __device__ uint4 chunk(int c) const {
    return shared.tiles[state.index][c * C::threads + threadIdx.x];
  }
  __device__ void consumer_release() {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(&shared.empty[state.index]);
    ++state;
  }
};

/// The main loop over a BulkPipeline: producer warps, if there are any, ask for all tiles; without
/// them the first thread does on its way. The others count.
template <class Keys, class C, class CountersT>
__device__ __forceinline__ void count_bulk_tiles(const Run& run, BulkPipeline<C, Run>& pipeline,
                                                 CountersT& counters) {
  if constexpr (C::producer_warps > 0) {
    if (threadIdx.x >= C::threads) {
      if (threadIdx.x == C::threads) pipeline.produce_all();
      __syncwarp();
      return;
    }
  }
  for (int n = 0; n < pipeline.tiles; ++n) {
    pipeline.next(n);
    count_tile<C>(counters, pipeline);
    pipeline.consumer_release();
    counters.counted_tile(run, n);
  }
  count_rest<Keys, C>(run, counters);
  counters.settle(run);
}

}  // namespace amasia::histogram
