// Schedule iso, common to the variants: that of the CUDA sample histogram256. 240 blocks of six
// warps; each warp counts into a sub-histogram of its own; the block writes the sum of the six. A
// second launch adds up the 240 results of each bin. The sample's threads take a word per step, and
// so do all strategies here: a tile is a word per thread, 768 bytes. With steps of 16 bytes (config
// iso/16-bytes) a tile is 3 KB.
#pragma once

#include "apps/histogram/counting.cuh"
#include "variants/device/dependent_launch.cuh"

namespace amasia::histogram {

inline constexpr int original_threads = 32 * original_warps;
inline constexpr int original_stages = 2;  // of the strategies that hold more than one
inline constexpr int merge_warps = 8;

/// A tile of steps of STEP bytes per thread.
template <int STEP>
inline constexpr int step_tile_words = STEP / 4 * original_threads;
template <int STEP>
inline constexpr int step_tile_bytes = STEP* original_threads;

struct OriginalRun {
  const unsigned* keys;
  std::int64_t count;
  Binning binning;
  int counters;
  unsigned* partials;  // (blocks, counters)
  unsigned* counts;

  template <class Keys>
  __device__ std::int64_t words() const {
    return count / Keys::per_word;
  }
  /// Tiles of this block.
  template <class Keys, int STEP>
  __device__ int tiles() const {
    return tiles_of_group(words<Keys>() / step_tile_words<STEP>, static_cast<int>(blockIdx.x),
                          original_blocks);
  }
  template <int STEP>
  __device__ const unsigned* tile(int n) const {
    return keys + (blockIdx.x + std::int64_t{n} * original_blocks) * step_tile_words<STEP>;
  }
};

/// Counts words from `first` on in steps of STEP bytes, and the keys of the last, incomplete word,
/// strided over all threads. `first` is a multiple of STEP / 4.
template <class Keys, int STEP, class CountersT>
__device__ __forceinline__ void count_directly(const OriginalRun& run, std::int64_t first,
                                               const CountersT& counters) {
  const std::int64_t thread = std::int64_t{blockIdx.x} * original_threads + threadIdx.x;
  const std::int64_t words = run.template words<Keys>();
  if constexpr (STEP == 16) {
    const auto* chunks = reinterpret_cast<const uint4*>(run.keys);
    for (std::int64_t c = first / 4 + thread; c < words / 4;
         c += original_blocks * original_threads) {
      counters.add_chunk(chunks[c]);
    }
    first = words / 4 * 4;
  }
  for (std::int64_t w = first + thread; w < words; w += original_blocks * original_threads) {
    counters.add_word(run.keys[w]);
  }
  const std::int64_t key = words * Keys::per_word + thread;
  if (key < run.count) counters.add(Keys::counter_at(run.keys, key, run.binning));
}

/// The block's sub-histograms: (warps, counters).
template <class Keys>
struct WarpCounters : LaneCounters<Keys> {
  __device__ WarpCounters(unsigned* counters, const OriginalRun& run)
      : LaneCounters<Keys>(counters + threadIdx.x / 32 * run.counters, 0, run.binning) {}

  /// The words behind the last whole tile.
  template <int STEP>
  __device__ __forceinline__ void add_rest(const OriginalRun& run) const {
    constexpr int tile = step_tile_words<STEP>;
    count_directly<Keys, 4>(run, run.template words<Keys>() / tile * tile, *this);
  }
  /// The thread's part of a tile in shared memory: neighbours read neighbouring words.
  template <int STEP>
  __device__ __forceinline__ void add_tile(const unsigned* tile) const {
#pragma unroll
    for (int k = 0; k < STEP / 4; ++k) this->add_word(tile[k * original_threads + threadIdx.x]);
  }
  /// STEP bytes that are this thread's alone.
  template <int STEP>
  __device__ __forceinline__ void add_slot(const unsigned* slot) const {
    if constexpr (STEP == 16) {
      this->add_chunk(*reinterpret_cast<const uint4*>(slot));
    } else {
      this->add_word(*slot);
    }
  }
};

/// Follow with a barrier.
__device__ inline void clear_warp_counters(unsigned* counters, const OriginalRun& run) {
  for (int i = threadIdx.x; i < original_warps * run.counters; i += original_threads) {
    counters[i] = 0;
  }
}

/// Call after a barrier.
__device__ inline void write_partial(const unsigned* counters, const OriginalRun& run) {
  for (int i = threadIdx.x; i < run.counters; i += original_threads) {
    unsigned sum = 0;
#pragma unroll
    for (int warp = 0; warp < original_warps; ++warp) sum += counters[warp * run.counters + i];
    run.partials[std::int64_t{blockIdx.x} * run.counters + i] = sum;
  }
}

/// A warp per bin: adds the partial results of the bin's counters. Without shared memory: nothing
/// is reused.
template <class Keys>
__global__ void __launch_bounds__(32 * merge_warps) merge_partials(OriginalRun run, int blocks) {
  wait_for_predecessor();
  const unsigned bin = blockIdx.x * merge_warps + threadIdx.x / 32;
  if (bin > run.binning.bins) return;
  unsigned sum = 0;
  const unsigned end = Keys::first_counter(bin + 1, run.binning);
  for (unsigned c = Keys::first_counter(bin, run.binning); c < end; ++c) {
    for (int block = threadIdx.x % 32; block < blocks; block += 32) {
      sum += run.partials[std::int64_t{block} * run.counters + c];
    }
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, distance);
  }
  if (threadIdx.x % 32 == 0) run.counts[bin] = sum;
}

using OriginalKernel = void (*)(OriginalRun);

/// `stages` tiles of which `in_shared` lie in shared memory. `cluster_blocks` of dsm: blocks that
/// keep one partial result between them.
template <int STEP>
ConfigOf<Problem> original(OriginalKernel bytes, OriginalKernel words, int stages, int in_shared,
                           int cluster_blocks = 1, Start start = Start::in_turn) {
  const std::size_t ring_bytes = static_cast<std::size_t>(in_shared * step_tile_bytes<STEP>);
  ConfigOf<Problem> config;
  config.info.schedule = start == Start::dependent ? iso_dependent_name : iso_name;
  config.info.name =
      config.info.schedule + (STEP == 4 ? "" : "/" + std::to_string(STEP) + "-bytes");
  config.info.geometry = {{"blocks", original_blocks},
                          {"threads", original_threads},
                          {"sub_histograms", original_warps}};
  config.info.movement = {
      {"stages", stages}, {"stage_bytes", step_tile_bytes<STEP>}, {"load_bytes", STEP}};
  if (cluster_blocks > 1) config.info.geometry.push_back({"cluster_blocks", cluster_blocks});
  const auto shared_bytes = [=](std::int64_t counters) {
    return ring_bytes +
           static_cast<std::size_t>(4 * original_warps * ceil_div(counters, cluster_blocks));
  };
  for (const OriginalKernel kernel : {words, bytes}) {
    config.info.kernels.push_back({reinterpret_cast<const void*>(kernel), original_threads,
                                   shared_bytes(byte_values + 1), cluster_blocks,
                                   static_cast<std::size_t>(step_tile_bytes<STEP>)});
  }
  config.info.kernels.push_back(
      {reinterpret_cast<const void*>(merge_partials<Words>), 32 * merge_warps});
  config.info.kernels.push_back(
      {reinterpret_cast<const void*>(merge_partials<Bytes>), 32 * merge_warps});
  config.unsupported = [=](const Problem& p, const Device& device) -> std::optional<std::string> {
    if (auto reason = start_objection(start, device)) return reason;
    const std::size_t needed = shared_bytes(p.counters);
    if (p.partials != nullptr && needed <= device.shared_per_block) return std::nullopt;
    return "six sub-histograms of " + std::to_string(p.counters) + " counters need " +
           std::to_string(needed) + " bytes of shared memory, a block has " +
           std::to_string(device.shared_per_block);
  };
  config.prepare = [=](const Problem& p, const Device&) -> Launch {
    const bool of_bytes = p.type == KeyType::uint8;
    const OriginalKernel count = of_bytes ? bytes : words;
    const auto merge = of_bytes ? merge_partials<Bytes> : merge_partials<Words>;
    LaunchShape counting;
    counting.grid = dim3(original_blocks);
    counting.block = dim3(original_threads);
    counting.dynamic_shared_bytes = shared_bytes(p.counters);
    counting.cluster_blocks = static_cast<unsigned>(cluster_blocks);
    allow_launch(reinterpret_cast<const void*>(count), counting);
    FollowingShape merging;
    merging.grid = dim3(static_cast<unsigned>(ceil_div(p.binning.bins + 1, merge_warps)));
    merging.block = dim3(32 * merge_warps);
    merging.early = start == Start::dependent;
    const OriginalRun run{static_cast<const unsigned*>(p.keys), p.count,    p.binning,
                          static_cast<int>(p.counters),         p.partials, p.counts};
    const int partials = original_blocks / cluster_blocks;
    return [=](Stream stream) {
      launch(count, counting, stream, run);
      launch(merge, merging, stream, run, partials);
    };
  };
  return config;
}

}  // namespace amasia::histogram
