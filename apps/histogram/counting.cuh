// What all schedules but iso have in common (schedules.hpp): as many blocks as they say walk the
// tiles, count, and add what they have counted to the result once, at the end. A variant brings its
// pipeline, which says how tiles get from global memory to the thread that counts them; here are
// the counters that a kernel fills and the launch.
//
// Keys behind the last whole tile are too few to be worth moving: each is read where it lies.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>

#include "apps/histogram/kernel.cuh"
#include "apps/histogram/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/global_memory.cuh"
#include "variants/ptx/named_barrier.cuh"

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
  template <class C>
  __device__ const uint4* tile(int n) const {
    return keys + (group() + std::int64_t{n} * groups) * C::tile_chunks;
  }
  /// Counters of this block's window that exist: the last window may be cut.
  __device__ int window_counters() const {
    const int left = counters - first_counter();
    return left < plan.window ? left : plan.window;
  }
};

/// A barrier of the warps that count. Others have work of their own meanwhile.
template <class C>
__device__ __forceinline__ void counting_barrier() {
  if constexpr (C::producer_warps == 0) {
    __syncthreads();
  } else {
    block::sync(1, C::threads);
  }
}

/// By all threads of the block; follow with a block barrier.
template <class C>
__device__ void clear_counters(unsigned* counters, const CounterPlan& plan) {
  auto* words = reinterpret_cast<uint4*>(counters);
  const int all = static_cast<int>(plan.bytes() / 16);
  for (int i = threadIdx.x; i < all; i += C::launched_threads) words[i] = {};
}

/// The counters of a block: where its threads add, and how that gets into the result. `settle` is
/// called once, by all threads that count, when they have added every key. HOME copies.
template <class Keys, class C, Home HOME = C::home>
struct Counters : LaneCounters<Keys> {
  unsigned* words;

  __device__ Counters(const Run& run, unsigned* counters)
      : LaneCounters<Keys>(counters, run.plan.log2_copies, run.binning), words(counters) {}

  __device__ void counted_tile(const Run&, int) const {}
  __device__ void settle(const Run&) const {}

  /// One atomic addition per counter that is not zero. Call after a block barrier.
  __device__ void add_to_result(const Run& run) const {
    for (int i = threadIdx.x; i < run.counters; i += C::threads) {
      const unsigned sum = sum_of_copies(words, i, run.plan.log2_copies);
      if (sum == 0) continue;
      atomicAdd(run.counts + Keys::bin_of_counter(static_cast<unsigned>(i), run.binning), sum);
    }
  }
};

template <class Keys, class C>
struct Counters<Keys, C, Home::packed> : PackedCounters<is_sliced<Keys>> {
  static_assert(Keys::per_word == 1, "8-bit keys have counters enough in any block");
  static constexpr int between_barriers = packed_tiles_between_barriers(4 * C::tile_chunks);
  static_assert(between_barriers >= 1, "a tile has no more keys than a half may take");
  unsigned* words;

  __device__ Counters(const Run& run, unsigned* counters)
      : PackedCounters<is_sliced<Keys>>{static_cast<unsigned>(__cvta_generic_to_shared(counters)),
                                        static_cast<unsigned>(run.first_counter()),
                                        static_cast<unsigned>(run.plan.window), run.binning,
                                        run.counts},
        words(counters) {}

  /// Before a half can overflow, all that have made one pass 2^15 have taken that off it.
  __device__ void counted_tile(const Run&, int n) const {
    if ((n + 1) % between_barriers == 0) counting_barrier<C>();
  }
  __device__ void settle(const Run&) const {}
  __device__ void add_to_result(const Run& run) const {
    const auto* halves = reinterpret_cast<const unsigned short*>(words);
    const int all = run.window_counters();
    // Each block begins elsewhere: all at once would queue up at the same words of L2.
    const int begin = static_cast<int>(std::int64_t{all} * blockIdx.x / gridDim.x);
    for (int k = threadIdx.x; k < all; k += C::threads) {
      const int i = begin + k < all ? begin + k : begin + k - all;
      if (halves[i] != 0) atomicAdd(run.counts + run.first_counter() + i, unsigned{halves[i]});
    }
  }
};

/// reduce(a, b) of the warp's values, in all its lanes.
template <class T, class Reduce>
__device__ T over_warp(T value, Reduce reduce) {
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    value = reduce(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  return value;
}

template <class Keys, class C, class CountersT>
__device__ void count_rest(const Run& run, CountersT& counters);

// As packed, but additions do not ask for the old value. The first tiles show whether keys are
// spread enough for that; the sum of all halves proves that none overflowed (geometry.hpp).
template <class Keys, class C>
struct Counters<Keys, C, Home::unseen> : Counters<Keys, C, Home::packed> {
  using Asking = Counters<Keys, C, Home::packed>;
  bool asks = false;  // the same in all threads of the block

  using Asking::Asking;

  __device__ __forceinline__ void add(unsigned counter) const {
    if (asks) return Asking::add(counter);
    add_unseen(this->address(counter), 1u << this->shift(counter));
  }
  __device__ __forceinline__ void add_chunk(uint4 words) const {
    if (asks) return Asking::add_chunk(words);
    visit_chunk<Keys>(words, this->binning, [this](unsigned counter) {
      add_unseen(this->address(counter), 1u << this->shift(counter));
    });
  }
  /// Calls visit(word) for the thread's share of all words, when all keys so far are in them.
  template <class Visit>
  __device__ void visit_words(const Run& run, Visit visit) const {
    counting_barrier<C>();
    for (int i = threadIdx.x; i < run.plan.window / 2; i += C::threads) visit(this->words[i]);
  }

  __device__ void counted_tile(const Run& run, int n) {
    if (asks) return Asking::counted_tile(run, n);
    if (n + 1 != Asking::between_barriers) return;
    __shared__ unsigned fullest;
    if (threadIdx.x == 0) fullest = 0;
    unsigned most = 0;
    visit_words(run, [&](unsigned word) { most = max(most, max(word & 0xffff, word >> 16)); });
    most = over_warp(most, [](unsigned a, unsigned b) { return max(a, b); });
    if (threadIdx.x % 32 == 0) atomicMax(&fullest, most);
    counting_barrier<C>();
    asks = !adds_unseen(fullest, ceil_div(run.block_tiles(), Asking::between_barriers));
  }
  __device__ void settle(const Run& run) {
    if (asks) return;
    __shared__ unsigned long long surplus;
    if (threadIdx.x == 0) surplus = 0;
    constexpr std::int64_t tile_keys = std::int64_t{C::tile_chunks} * 4;
    const int tiles = run.block_tiles();
    const std::int64_t rest = tiles_of_group(
        run.count - run.tiles * tile_keys, run.group() * C::threads + static_cast<int>(threadIdx.x),
        run.groups * C::threads);
    auto own = static_cast<unsigned long long>(-(std::int64_t{tiles} * C::chunks * 4 + rest));
    visit_words(run, [&](unsigned word) { own += sum_of_halves(word); });
    own = over_warp(own, [](unsigned long long a, unsigned long long b) { return a + b; });
    if (threadIdx.x % 32 == 0) atomicAdd(&surplus, own);
    counting_barrier<C>();
    if (surplus == 0) return;
    // Again, asking, from keys where they lie.
    asks = true;
    for (int i = threadIdx.x; i < run.plan.window / 2; i += C::threads) this->words[i] = 0;
    counting_barrier<C>();
    for (int n = 0; n < tiles; ++n) {
      const uint4* tile = run.tile<C>(n) + threadIdx.x;
      for (int c = 0; c < C::chunks; ++c) Asking::add_chunk(__ldg(tile + c * C::threads));
      Asking::counted_tile(run, n);
    }
    count_rest<Keys, C>(run, *this);
  }
};

template <class Keys, class C>
struct Counters<Keys, C, Home::global> : GlobalCounters<Keys> {
  __device__ Counters(const Run& run, unsigned*) : GlobalCounters<Keys>{run.binning, run.counts} {}
  __device__ void counted_tile(const Run&, int) const {}
  __device__ void settle(const Run&) const {}
  __device__ void add_to_result(const Run&) const {}
};

/// Counts the thread's part of the tile for which the pipeline's consumer has waited.
template <class C, class CountersT, class Pipeline>
__device__ __forceinline__ void count_tile(CountersT& counters, Pipeline& pipeline) {
#pragma unroll
  for (int c = 0; c < C::chunks; ++c) counters.add_chunk(pipeline.chunk(c));
}

/// Counts the block's share of the keys behind the last whole tile, by the threads that count.
template <class Keys, class C, class CountersT>
__device__ void count_rest(const Run& run, CountersT& counters) {
  if constexpr (in_halves(C::home)) counting_barrier<C>();
  constexpr std::int64_t tile_keys = std::int64_t{C::tile_chunks} * 4 * Keys::per_word;
  for (std::int64_t i = run.tiles * tile_keys + run.group() * C::threads + threadIdx.x;
       i < run.count; i += std::int64_t{run.groups} * C::threads) {
    counters.add(Keys::counter_at(run.keys, i, run.binning));
  }
}

/// By the threads that count: asks L2 for a tile, a line of 128 bytes each.
template <class C>
__device__ __forceinline__ void prefetch_tile(const Run& run, int n) {
  for (int line = threadIdx.x; line < C::tile_bytes / 128; line += C::threads) {
    global::prefetch_line(run.tile<C>(n) + 8 * line);
  }
}

/// Shared memory that a pipeline's stages take in front of the counters. Stages in registers take
/// none.
template <class Storage>
inline constexpr std::size_t storage_bytes = std::is_empty_v<Storage> ? 0 : sizeof(Storage);

/// The kernel of all strategies whose counting threads move the keys themselves. What they do for
/// it is the variant's Pipeline: `next` waits for a tile and asks for a later one, `chunk` hands
/// out the thread's part of it.
template <class Keys, class Pipeline>
__global__ void __launch_bounds__(Pipeline::C::threads, Pipeline::C::blocks_per_sm)
    walk_tiles(Run run) {
  using C = typename Pipeline::C;
  using Storage = typename Pipeline::Storage;
  auto* const memory = block_memory<unsigned char>();
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(memory + storage_bytes<Storage>);
  Counters<Keys, C> counters(run, words);
  clear_counters<C>(words, run.plan);
  __syncthreads();
  Pipeline pipeline{run, *reinterpret_cast<Storage*>(memory), run.block_tiles()};
  pipeline.prologue();
  // Main loop
  for (int n = 0; n < pipeline.tiles; ++n) {
    pipeline.next(n);
    count_tile<C>(counters, pipeline);
    pipeline.consumer_release();
    counters.counted_tile(run, n);
    if constexpr (C::l2_ahead > 0) {
      if (n + C::l2_ahead < pipeline.tiles) prefetch_tile<C>(run, n + C::l2_ahead);
    }
  }
  // Epilogue
  count_rest<Keys, C>(run, counters);
  counters.settle(run);
  __syncthreads();
  counters.add_to_result(run);
}

/// Adds up the copies in place: counter i becomes word i. A batch is written behind everything that
/// is still to be read, so one barrier per batch is enough. By all threads of the block; call after
/// a barrier, follow with one.
template <class C>
__device__ void gather_copies(unsigned* counters, const CounterPlan& plan) {
  if (plan.log2_copies == 0) return;
  for (int first = 0; first < plan.window; first += C::launched_threads) {
    const int i = first + static_cast<int>(threadIdx.x);
    const unsigned sum = i < plan.window ? sum_of_copies(counters, i, plan.log2_copies) : 0;
    __syncthreads();
    if (i < plan.window) counters[i] = sum;
  }
}

// The host's side.

/// Dynamic shared memory that a block may use when `blocks_per_sm` of them share an SM.
inline std::int64_t shared_budget(const Device& device, int blocks_per_sm) {
  constexpr std::int64_t barriers = 256;  // what kernels declare statically, rounded up
  return std::min<std::int64_t>(static_cast<std::int64_t>(device.shared_per_block),
                                static_cast<std::int64_t>(device.shared_per_sm) / blocks_per_sm -
                                    static_cast<std::int64_t>(device.shared_reserved)) -
         barriers;
}

/// What a block keeps of `counters` in `bytes`. `at_least` as in plan_counters().
inline CounterPlan plan_of(Home home, std::int64_t counters, std::int64_t bytes, int at_least = 1) {
  if (home == Home::global) return {};
  return in_halves(home) ? plan_packed(counters, bytes, at_least)
                         : plan_counters(counters, bytes, at_least);
}

template <class C>
Run make_run(const Problem& p, const CounterPlan& plan) {
  Run run{};
  run.keys = static_cast<const uint4*>(p.keys);
  run.count = p.count;
  run.tiles = p.count * (p.type == KeyType::uint8 ? 1 : 4) / C::tile_bytes;
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

/// What the resources of a config are stated for: 256 bins in 32 copies, or 65,536 bins where a
/// block keeps as many as it can.
constexpr std::size_t nominal_counter_bytes(Home home) {
  return home == Home::copies ? 4 * 32 * 260 : in_halves(home) ? 2 * (65536 + 64) : 0;
}

using CountKernel = void (*)(Run);

/// Whether a schedule counts 8-bit keys, too. Where blocks keep parts it does not: all 256 counters
/// fit anyway.
template <class C>
inline constexpr bool counts_bytes = C::home == Home::copies || C::home == Home::global;

/// The instances of a variant's kernel: for 8-bit keys (nullptr: not counted), for words, and for
/// words where a block keeps one range of several (nullptr: the same).
struct CountKernels {
  CountKernel bytes, words, sliced = nullptr;
  CountKernel of(const Problem& p, const CounterPlan& plan) const {
    if (p.type == KeyType::uint8) return bytes;
    return plan.windows > 1 && sliced != nullptr ? sliced : words;
  }
};

/// `instance(keys)` is the kernel for keys of that kind.
template <class C, bool SLICED = C::home == Home::packed, class Instance>
CountKernels kernels_of(Instance instance) {
  CountKernels kernels{nullptr, instance(Words{})};
  if constexpr (counts_bytes<C>) kernels.bytes = instance(Bytes{});
  if constexpr (SLICED) kernels.sliced = instance(Sliced<Words>{});
  return kernels;
}

/// Why nothing is gained by parts of the counters of 8-bit keys.
inline constexpr const char* fits_any_block =
    "all 256 counters of 8-bit keys fit any block: schedules that keep parts do not count them";

/// Why a schedule cannot count this problem with `ring_bytes` of a block taken by stages.
template <class C>
std::optional<std::string> misfit(const Problem& p, const Device& device, std::size_t ring_bytes) {
  if (!counts_bytes<C> && p.type == KeyType::uint8) return fits_any_block;
  const std::int64_t budget =
      shared_budget(device, C::blocks_per_sm) - static_cast<std::int64_t>(ring_bytes);
  if (C::home != Home::global && budget < 128) {
    return "the stages alone need more shared memory than a block has";
  }
  if ((C::home == Home::copies || C::home == Home::unseen) &&
      plan_of(C::home, p.counters, budget).windows > 1) {
    return std::to_string(p.counters) + " counters do not fit in the " + std::to_string(budget) +
           " bytes of a block beside its stages";
  }
  return std::nullopt;
}

/// "1024x1/3-stages-32-KB": the schedule, and the movement by which configs of it differ.
template <class C>
std::string config_name(const char* schedule) {
  std::string name = std::string(schedule) + "/" + std::to_string(C::stages) +
                     (C::stages == 1 ? "-stage-" : "-stages-") +
                     std::to_string(C::tile_bytes / 1024) + "-KB";
  if (C::producer_warps > 0) name += "-" + std::to_string(C::producer_warps) + "-producers";
  if (C::l2_ahead > 0) name += "-l2";
  return name;
}

/// Names, geometry and movement of a config; what all variants say of theirs.
template <class C>
ConfigInfo info_of(std::string name) {
  ConfigInfo info;
  info.name = std::move(name);
  info.schedule = C::name;
  info.geometry = {{"threads", C::threads}, {"blocks_per_sm", C::blocks_per_sm}};
  info.movement = {
      {"stages", C::stages}, {"stage_bytes", C::tile_bytes}, {"producer_warps", C::producer_warps}};
  if (C::l2_ahead > 0) info.movement.push_back({"l2_ahead", C::l2_ahead});
  return info;
}

/// A config that counts with `kernels`, each block with `ring_bytes` of shared memory in front of
/// its counters.
template <class C>
ConfigOf<Problem> counting(const CountKernels& kernels, std::size_t ring_bytes,
                           std::size_t in_flight) {
  ConfigOf<Problem> config;
  config.info = info_of<C>(config_name<C>(C::name));
  for (const CountKernel kernel : {kernels.words, kernels.bytes, kernels.sliced}) {
    if (kernel == nullptr) continue;
    config.info.kernels.push_back({reinterpret_cast<const void*>(kernel), C::launched_threads,
                                   ring_bytes + nominal_counter_bytes(C::home), 1, in_flight});
  }
  config.unsupported = [=](const Problem& p, const Device& device) {
    return misfit<C>(p, device, ring_bytes);
  };
  config.prepare = [=](const Problem& p, const Device& device) -> Launch {
    const CounterPlan plan =
        plan_of(C::home, p.counters,
                shared_budget(device, C::blocks_per_sm) - static_cast<std::int64_t>(ring_bytes));
    const CountKernel kernel = kernels.of(p, plan);
    LaunchShape shape;
    shape.block = dim3(C::launched_threads);
    shape.dynamic_shared_bytes = ring_bytes + static_cast<std::size_t>(plan.bytes());
    allow_launch(reinterpret_cast<const void*>(kernel), shape);
    const int resident =
        resident_blocks(reinterpret_cast<const void*>(kernel), shape, device.sm_count);
    Run run = make_run<C>(p, plan);
    // Not more than the schedule says, even where a kernel's registers would allow it.
    const int blocks = std::min(resident, C::blocks_per_sm * device.sm_count);
    run.groups = useful_groups(blocks / plan.windows, run.tiles);
    shape.grid = dim3(static_cast<unsigned>(run.groups * plan.windows));
    return clear_then(p, [=](Stream stream) { launch(kernel, shape, stream, run); });
  };
  return config;
}

/// A config of kernel walk_tiles with a variant's pipeline.
template <template <class, class> class PIPELINE, class SCHEDULE, class MOVEMENT>
ConfigOf<Problem> walking() {
  using C = KernelConfig<SCHEDULE, MOVEMENT>;
  using Pipeline = PIPELINE<C, Run>;
  return counting<C>(kernels_of<C>([](auto keys) { return walk_tiles<decltype(keys), Pipeline>; }),
                     storage_bytes<typename Pipeline::Storage>, bytes_in_flight<C>);
}

}  // namespace amasia::histogram
