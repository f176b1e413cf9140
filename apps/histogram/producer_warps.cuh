// Warps that only copy, for strategies whose copies threads have to make (baseline, overlap; tma's
// engine needs one thread). Stages change hands at named barriers, which every GPU has, so that
// these kernels run wherever the strategy does.
#pragma once

#include "apps/histogram/counting.cuh"
#include "variants/ptx/named_stages.cuh"

namespace amasia::histogram {

/// Stages in front of the counters, for a kernel whose tiles go through shared memory.
template <class C>
struct StageStorage {
  alignas(128) uint4 tiles[C::stages][C::tile_chunks];
};

/// How the stages change hands. Barrier 1 is the counting warps' own (counting_barrier()).
template <class C>
using HandOver = block::NamedStages<C::stages, C::launched_threads, 2>;

/// The chunks of a tile that one lane of the producer warps copies.
template <class C>
struct ProducerLane {
  static constexpr int threads = 32 * C::producer_warps;
  static constexpr int chunks = C::tile_chunks / threads;
  static_assert(C::tile_chunks % threads == 0, "every lane copies the same number of chunks");
  int first = static_cast<int>(threadIdx.x) - C::threads;
  __device__ int chunk(int k) const { return first + k * threads; }
};

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

/// The kernel around them. Producer::produce_all(run, tiles, shared) is what the producer warps do.
template <class Keys, class C, class Producer>
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
    Producer::produce_all(run, tiles, shared);
  } else {
    count_stages<C>(run, tiles, shared, counters);
    count_rest<Keys, C>(run, counters);
    counters.settle(run);
  }
  // Epilogue
  __syncthreads();
  if (threadIdx.x < C::threads) counters.add_to_result(run);
}

/// A config of it. PRODUCER<C>::in_flight is what its warps have on the way, in bytes.
template <template <class> class PRODUCER, class SCHEDULE, class MOVEMENT>
ConfigOf<Problem> producing() {
  using C = KernelConfig<SCHEDULE, MOVEMENT>;
  return counting<C>(
      kernels_of<C>([](auto keys) { return with_producers<decltype(keys), C, PRODUCER<C>>; }),
      sizeof(StageStorage<C>), PRODUCER<C>::in_flight);
}

}  // namespace amasia::histogram
