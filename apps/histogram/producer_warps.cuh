// Warps that only copy, for strategies whose copies threads have to make (baseline, overlap; tma's
// engine needs one thread). Stages change hands by named barriers (PTX ISA: "bar.sync",
// "bar.arrive"), which every GPU has, so that these kernels run wherever the strategy does.
#pragma once

#include "apps/histogram/counting.cuh"
#include "variants/geometry/pipeline_state.hpp"

namespace amasia::histogram {

/// Stages in front of the counters, for a kernel whose tiles go through shared memory.
template <class C>
struct StageStorage {
  alignas(128) uint4 tiles[C::stages][C::tile_chunks];
};

/// A `full` and an `empty` barrier per stage. All threads of the block take part in each, the ones
/// by waiting, the others by arriving. A block has 16 barriers: 0 is __syncthreads(), 1 the
/// counting warps' own (counting_barrier()).
template <class C>
struct StageBarriers {
  static_assert(2 + 2 * C::stages <= 16, "a block has 16 barriers");
  using State = PipelineState<C::stages>;

  __device__ static void sync(int barrier) {
    __syncwarp();
    asm volatile("bar.sync %0, %1;\n" ::"r"(barrier), "n"(C::launched_threads) : "memory");
  }
  __device__ static void arrive(int barrier) {
    __threadfence_block();  // PTX promises the order of memory of bar.sync, not of bar.arrive
    __syncwarp();
    asm volatile("bar.arrive %0, %1;\n" ::"r"(barrier), "n"(C::launched_threads) : "memory");
  }
  __device__ static int full(State s) { return 2 + s.index; }
  __device__ static int empty(State s) { return 2 + C::stages + s.index; }

  /// Tile n is the first in each of the stages while n < stages.
  __device__ static void producer_acquire(int n, State s) {
    if (n >= C::stages) sync(empty(s));
  }
  __device__ static void producer_commit(State s) { arrive(full(s)); }
  __device__ static void consumer_wait(State s) { sync(full(s)); }
  /// Nobody waits for the last tiles to be read.
  __device__ static void consumer_release(int n, State s, int tiles) {
    if (n + C::stages < tiles) arrive(empty(s));
  }
};

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
__device__ __forceinline__ void count_stages(int tiles, const StageStorage<C>& shared,
                                             const CountersT& counters) {
  struct Stage {
    const uint4* tile;
    __device__ uint4 chunk(int c) const { return tile[c * C::threads + threadIdx.x]; }
  };
  PipelineState<C::stages> state;
  for (int n = 0; n < tiles; ++n, ++state) {
    StageBarriers<C>::consumer_wait(state);
    Stage stage{shared.tiles[state.index]};
    count_tile<C>(counters, stage);
    StageBarriers<C>::consumer_release(n, state, tiles);
    counters.counted_tile(n);
  }
}

/// The kernel around them. Producer::produce_all(run, tiles, shared) is what the producer warps do.
template <class Keys, class C, class Producer>
__global__ void __launch_bounds__(C::launched_threads, C::blocks_per_sm) with_producers(Run run) {
  auto& shared = *block_memory<StageStorage<C>>();
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(&shared + 1);
  const Counters<Keys, C> counters(run, words);
  clear_counters<C>(words, run.plan);
  __syncthreads();
  const int tiles = run.block_tiles();
  // Main loop
  if (threadIdx.x >= C::threads) {
    Producer::produce_all(run, tiles, shared);
  } else {
    count_stages<C>(tiles, shared, counters);
    count_rest<Keys, C>(run, counters);
  }
  // Epilogue
  __syncthreads();
  if (threadIdx.x < C::threads) counters.add_to_result(run);
}

}  // namespace amasia::histogram
