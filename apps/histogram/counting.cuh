// The schedule of all configs but iso, common to the variants: as many blocks as fit walk the
// tiles, count into shared memory and add what they have counted to the result once, at the end. A
// variant brings a Mover, which says how tiles get from global memory to the thread that counts
// them:
//
//   begin(tiles)   this many tiles will be asked for
//   acquire(n)     the block's n-th tile has arrived; later ones may be under way
//   chunk(c)       16 bytes of it, the thread's c-th
//   release(n)     the tile has been read
//
// Keys behind the last whole tile are too few to be worth moving: each is read where it lies.
#pragma once

#include <algorithm>
#include <string>

#include "apps/histogram/kernel.cuh"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::histogram {

/// Arguments of a run. Blocks form `groups` of plan.windows: a group's blocks see the same tiles
/// and keep different windows.
struct Run {
  const uint4* keys;
  std::int64_t count;
  std::int64_t tiles;  // whole ones
  Binning binning;
  unsigned* counts;
  int counters;
  CounterPlan plan;
  int groups;

  __device__ int group() const { return static_cast<int>(blockIdx.x) / plan.windows; }
  __device__ int first_counter() const {
    return static_cast<int>(blockIdx.x) % plan.windows * plan.window;
  }
  __device__ int block_tiles() const { return tiles_of_group(tiles, group(), groups); }
  template <class S>
  __device__ const uint4* tile(int n) const {
    return keys + (group() + std::int64_t{n} * groups) * S::tile_chunks;
  }
  /// Counters of this block's window that exist: the last window may be cut.
  __device__ int window_counters() const {
    const int left = counters - first_counter();
    return left < plan.window ? left : plan.window;
  }
};

/// Follow with a block barrier.
__device__ inline void clear_counters(unsigned* counters, const CounterPlan& plan, int threads) {
  auto* words = reinterpret_cast<uint4*>(counters);
  for (int i = threadIdx.x; i < plan.kept() / 4 << plan.log2_copies; i += threads) words[i] = {};
}

/// Counts the block's tiles and its share of the keys behind the last.
template <class Keys, class S, class Mover>
__device__ __forceinline__ void count_tiles(const Run& run, Mover& mover, unsigned* counters) {
  const LaneCounters<Keys> own(counters, run.plan.log2_copies, run.first_counter(), run.plan.window,
                               run.binning);
  const int tiles = run.block_tiles();
  mover.begin(tiles);
  for (int n = 0; n < tiles; ++n) {
    mover.acquire(n);
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) own.add_chunk(mover.chunk(c));
    mover.release(n);
  }
  constexpr std::int64_t tile_keys = std::int64_t{S::tile_chunks} * 4 * Keys::per_word;
  for (std::int64_t i = run.tiles * tile_keys + run.group() * S::threads + threadIdx.x;
       i < run.count; i += std::int64_t{run.groups} * S::threads) {
    own.add(Keys::counter_at(run.keys, i, run.binning));
  }
}

/// Adds the block's counters to the result, one atomic addition per counter that is not zero.
template <class Keys, class S>
__device__ void add_to_result(const Run& run, const unsigned* counters) {
  for (int i = threadIdx.x; i < run.window_counters(); i += S::threads) {
    const unsigned sum = sum_of_copies(counters, i, run.plan.log2_copies);
    if (sum != 0) {
      const unsigned counter = static_cast<unsigned>(run.first_counter() + i);
      atomicAdd(run.counts + Keys::bin_of_counter(counter, run.binning), sum);
    }
  }
}

/// Adds up the copies in place: counter i becomes word i. A batch is written behind everything that
/// is still to be read, so one barrier per batch is enough. Call after a barrier, follow with one.
template <class S>
__device__ void gather_copies(unsigned* counters, const CounterPlan& plan) {
  if (plan.log2_copies == 0) return;
  for (int first = 0; first < plan.window; first += S::threads) {
    const int i = first + static_cast<int>(threadIdx.x);
    const unsigned sum = i < plan.window ? sum_of_copies(counters, i, plan.log2_copies) : 0;
    __syncthreads();
    if (i < plan.window) counters[i] = sum;
  }
}

/// Dynamic shared memory that a block may use when `blocks_per_sm` of them share an SM.
inline std::int64_t shared_budget(const Device& device, int blocks_per_sm) {
  constexpr std::int64_t barriers = 256;  // what kernels declare statically, rounded up
  return std::min<std::int64_t>(static_cast<std::int64_t>(device.shared_per_block),
                                static_cast<std::int64_t>(device.shared_per_sm) / blocks_per_sm -
                                    static_cast<std::int64_t>(device.shared_reserved)) -
         barriers;
}

template <class S>
Run make_run(const Problem& p, const CounterPlan& plan) {
  Run run{};
  run.keys = static_cast<const uint4*>(p.keys);
  run.count = p.count;
  run.tiles = p.count * (p.type == KeyType::uint8 ? 1 : 4) / S::tile_bytes;
  run.binning = p.binning;
  run.counts = p.counts;
  run.counters = static_cast<int>(p.counters);
  run.plan = plan;
  return run;
}

/// No more groups than tiles: every block has to clear and to add up its counters. At least one.
inline int useful_groups(int resident, std::int64_t tiles) {
  return static_cast<int>(std::clamp<std::int64_t>(tiles, 1, std::max(resident, 1)));
}

/// Clears the result, then counts: the blocks only add.
inline Launch clear_then(const Problem& p, Launch count) {
  const std::size_t bytes = 4 * static_cast<std::size_t>(round_up(p.binning.bins + 1, 4));
  return [counts = p.counts, bytes, count = std::move(count)](Stream stream) {
    AMASIA_CUDA(cudaMemsetAsync(counts, 0, bytes, stream));
    count(stream);
  };
}

/// What the resources of a config are stated for: 256 bins in 32 copies.
inline constexpr std::size_t nominal_counter_bytes = 4 * 32 * 260;

using CountKernel = void (*)(Run);

/// The instances of a variant's kernel: one per kind of keys. Blocks that keep windows skip the
/// keys of others, which costs others nothing that way.
struct CountKernels {
  CountKernel bytes, words, sliced_words;
  CountKernel of(const Problem& p, const CounterPlan& plan) const {
    return p.type == KeyType::uint8 ? bytes : plan.windows > 1 ? sliced_words : words;
  }
};

/// A config that counts with `kernels`, each block with `copy_threads` besides those of S and with
/// `ring_bytes` of shared memory in front of its counters.
template <class S>
ConfigOf<Problem> counting(const char* name, const CountKernels& kernels, std::size_t ring_bytes,
                           std::size_t bytes_in_flight, int copy_threads = 0) {
  ConfigOf<Problem> config;
  config.info.name = name;
  config.info.geometry = {{"threads", S::threads},
                          {"tile_bytes", S::tile_bytes},
                          {"stages", S::stages},
                          {"blocks_per_sm", S::blocks_per_sm}};
  for (const CountKernel kernel : {kernels.words, kernels.bytes, kernels.sliced_words}) {
    config.info.kernels.push_back({reinterpret_cast<const void*>(kernel), S::threads + copy_threads,
                                   ring_bytes + nominal_counter_bytes, 1, bytes_in_flight});
  }
  config.prepare = [=](const Problem& p, const Device& device) -> Launch {
    const CounterPlan plan = plan_counters(p.counters, shared_budget(device, S::blocks_per_sm) -
                                                           static_cast<std::int64_t>(ring_bytes));
    const CountKernel kernel = kernels.of(p, plan);
    LaunchShape shape;
    shape.block = dim3(S::threads + copy_threads);
    shape.dynamic_shared_bytes = ring_bytes + static_cast<std::size_t>(plan.bytes());
    allow_launch(reinterpret_cast<const void*>(kernel), shape);
    const int resident =
        resident_blocks(reinterpret_cast<const void*>(kernel), shape, device.sm_count);
    Run run = make_run<S>(p, plan);
    run.groups = useful_groups(resident / plan.windows, run.tiles);
    shape.grid = dim3(static_cast<unsigned>(run.groups * plan.windows));
    return clear_then(p, [=](Stream stream) { launch(kernel, shape, stream, run); });
  };
  return config;
}

}  // namespace amasia::histogram
