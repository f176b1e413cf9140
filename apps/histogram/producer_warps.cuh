// Warps that only copy, for overlap, whose copies threads have to make (tma's engine needs one
// thread). Stages change hands at named barriers, which every GPU has, so that this kernel runs
// wherever the strategy does.
#pragma once

#include "apps/histogram/counting.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/named_barrier.cuh"

namespace amasia::histogram {

/// Stages in front of the counters, for a kernel whose tiles go through shared memory.
template <class C>
struct StageStorage {
  alignas(128) uint4 tiles[C::stages][C::tile_chunks];
};

/// How the stages change hands. Barrier 1 is the counting warps' own (counting_barrier()).
template <class C>
using HandOver = block::NamedStages<C::stages, C::launched_threads, 2>;

/// What producer warps do: a tile arrives when its lanes have waited for the copies that they made
/// stages - 1 tiles ago.
template <class C>
__device__ void produce_all(const Run& run, int tiles, StageStorage<C>& shared) {
  constexpr int producers = 32 * C::producer_warps;
  static_assert(C::tile_chunks % producers == 0, "every lane copies the same number of chunks");
  const int first = static_cast<int>(threadIdx.x) - C::threads;
  PipelineState<C::stages> copied, arrived;
  for (int n = 0; n < tiles + C::stages - 1; ++n) {
    if (n < tiles) {
      HandOver<C>::producer_acquire(n, copied);
      const uint4* from = run.tile<C>(n);
#pragma unroll
      for (int k = 0; k < C::tile_chunks / producers; ++k) {
        const int chunk = first + k * producers;
        async::copy<16>(shared.tiles[copied.index] + chunk, from + chunk);
      }
      ++copied;
    }
    async::commit();
    async::wait<C::stages - 1>();
    if (n >= C::stages - 1) {
      HandOver<C>::producer_commit(arrived);
      ++arrived;
    }
  }
}

/// What the counting warps do of it.
template <class C, class CountersT>
__device__ __forceinline__ void count_stages(const Run& run, int tiles,
                                             const StageStorage<C>& shared, CountersT& counters) {
  struct Stage {
    const uint4* tile;
    __device__ uint4 chunk(int c) const { return tile[c * C::threads + threadIdx.x]; }
  };
  PipelineState<C::stages> state;
  for (int n = 0; n < tiles; ++n, ++state) {
    HandOver<C>::consumer_wait(state);
    Stage stage{shared.tiles[state.index]};
    count_tile<C>(counters, stage);
    HandOver<C>::consumer_release(n, state, tiles);
    counters.counted_tile(run, n);
  }
}

/// The kernel around them.
template <class Keys, class C>
__global__ void __launch_bounds__(C::launched_threads, C::blocks_per_sm) with_producers(Run run) {
  auto& shared = *block_memory<StageStorage<C>>();
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(&shared + 1);
  Counters<Keys, C> counters(run, words);
  clear_counters<C>(words, run.plan);
  __syncthreads();
  const int tiles = run.block_tiles();
  // Main loop
  if (threadIdx.x >= C::threads) {
    produce_all<C>(run, tiles, shared);
  } else {
    count_stages<C>(run, tiles, shared, counters);
    count_rest<Keys, C>(run, counters);
    counters.settle(run);
  }
  // Epilogue
  __syncthreads();
  if (threadIdx.x < C::threads) counters.add_to_result(run);
}

/// A config of it.
template <class SCHEDULE, class MOVEMENT>
ConfigOf<Problem> producing() {
  using C = KernelConfig<SCHEDULE, MOVEMENT>;
  return counting<C>(kernels_of<C>([](auto keys) { return with_producers<decltype(keys), C>; }),
                     sizeof(StageStorage<C>), bytes_in_flight<C>);
}

}  // namespace amasia::histogram
