// Counters spread over the blocks of a cluster, for dsm: every increment goes to the block that
// keeps its counter, so a key costs an access to another SM (seed 000, Fig. 9).
#pragma once

#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"
#include "variants/ptx/cluster.cuh"

namespace amasia::histogram {

/// Adds to a set of counters that is dealt out to the cluster one by one: counter i lies in block
/// i % blocks, there at i / blocks.
template <class Keys>
struct SpreadCounters {
  const unsigned* own;  // this block's counters
  unsigned log2_blocks;
  Binning binning;

  __device__ void add(unsigned counter) const {
    const unsigned block = counter & ((1u << log2_blocks) - 1);
    dsm::add_remote(dsm::remote_address(own + (counter >> log2_blocks), block), 1);
  }
  __device__ __forceinline__ void add_word(unsigned word) const {
    Keys::visit(word, binning, [this](unsigned counter) { add(counter); });
  }
  __device__ __forceinline__ void add_chunk(uint4 words) const {
    visit_chunk<Keys>(words, binning, [this](unsigned counter) { add(counter); });
  }
};

/// Counts all keys as count_directly() does, but reads them as what no kernel writes. ptxas cannot
/// tell that an addition in the cluster's window does not change them. It would ask for every word
/// after the addition for the one before has left. Read so, several are in flight together, as
/// where additions stay in the block.
template <class Keys, int STEP>
__device__ __forceinline__ void count_unchanged(const OriginalRun& run,
                                                const SpreadCounters<Keys>& counters) {
  constexpr std::int64_t all = original_blocks * original_threads;
  const std::int64_t thread = std::int64_t{blockIdx.x} * original_threads + threadIdx.x;
  const std::int64_t words = run.template words<Keys>();
  std::int64_t first = 0;
  if constexpr (STEP == 16) {
    const auto* chunks = reinterpret_cast<const uint4*>(run.keys);
    for (std::int64_t c = thread; c < words / 4; c += all) counters.add_chunk(__ldg(chunks + c));
    first = words / 4 * 4;
  }
  for (std::int64_t w = first + thread; w < words; w += all) counters.add_word(__ldg(run.keys + w));
  const std::int64_t key = words * Keys::per_word + thread;
  if (key < run.count) counters.add(Keys::counter_at(run.keys, key, run.binning));
}

// iso: the sample's geometry; a pair of blocks keeps one set of six sub-histograms, half each.
inline constexpr int original_cluster = 2;

template <class Keys, int STEP>
__global__ void __launch_bounds__(original_threads) dsm_original(OriginalRun run) {
  auto* const counters = block_memory<unsigned>();  // (warps, counters of this block)
  // Prologue
  admit_successor();
  const int kept = (run.counters + original_cluster - 1) / original_cluster;
  for (int i = threadIdx.x; i < original_warps * kept; i += original_threads) counters[i] = 0;
  dsm::cluster_sync();
  // Main loop
  count_unchanged<Keys, STEP>(
      run, SpreadCounters<Keys>{counters + threadIdx.x / 32 * kept, 1, run.binning});
  // Epilogue
  __syncwarp();         // threads leave the loop one by one, the barrier wants whole warps
  dsm::cluster_sync();  // all increments are done, everywhere
  const int rank = static_cast<int>(dsm::rank());
  for (int i = threadIdx.x; i < kept; i += original_threads) {
    const int counter = i * original_cluster + rank;
    if (counter >= run.counters) break;
    unsigned sum = 0;
    for (int w = 0; w < original_warps; ++w) sum += counters[w * kept + i];
    run.partials[blockIdx.x / original_cluster * std::int64_t{run.counters} + counter] = sum;
  }
}

// All other schedules: keys through registers, a chunk ahead. `run.plan.window` counters per block.
template <class Keys>
__global__ void __launch_bounds__(1024) spread(Run run) {
  auto* const counters = block_memory<unsigned>();
  const int threads = static_cast<int>(blockDim.x), blocks = static_cast<int>(dsm::size());
  // Prologue
  for (int i = threadIdx.x; i < run.plan.window; i += threads) counters[i] = 0;
  dsm::cluster_sync();
  const SpreadCounters<Keys> cluster{counters, static_cast<unsigned>(__ffs(blocks) - 1),
                                     run.binning};
  const std::int64_t thread = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t all = std::int64_t{gridDim.x} * threads;
  const std::int64_t chunks = run.count / (4 * Keys::per_word);
  uint4 next = thread < chunks ? __ldg(run.keys + thread) : uint4{};
  // Main loop
  for (std::int64_t c = thread; c < chunks; c += all) {
    const uint4 now = next;
    if (c + all < chunks) next = __ldg(run.keys + c + all);
    cluster.add_chunk(now);
  }
  const std::int64_t key = chunks * 4 * Keys::per_word + thread;
  if (key < run.count) cluster.add(Keys::counter_at(run.keys, key, run.binning));
  // Epilogue
  __syncwarp();         // threads leave the loop one by one, the barrier wants whole warps
  dsm::cluster_sync();  // all increments are done, everywhere
  for (int i = threadIdx.x; i < run.plan.window; i += threads) {
    const unsigned counter = i * blocks + dsm::rank();
    const unsigned sum = counters[i];
    if (sum != 0) atomicAdd(run.counts + Keys::bin_of_counter(counter, run.binning), sum);
  }
}

}  // namespace amasia::histogram
