// Schedule partitioned, common to the variants (geometry.hpp). A variant brings its pipeline,
// which moves the keys of the first launch and the ids of the last.
//
//   deal      A tile at a time: counts the tile's keys of each range and sorts them by range in
//             shared memory. Writes each range's ids behind those that the block has written of it.
//   arrange   Lists the chunks of all blocks by range.
//   count     Each block counts an equal part of that list. It adds a range's counters to the
//             result when it comes to the next.
//
// Keys behind the last whole tile are too few to be worth moving, and added to the result at once.
#pragma once

#include "apps/histogram/counting.cuh"
#include "apps/histogram/geometry.hpp"
#include "variants/device/dependent_launch.cuh"

namespace amasia::histogram {

/// The geometry of the first and the last launch. Both have messages of 16 KB: two chunks per
/// thread in the one, one in the other.
struct Deal : Geometry<512, 2, Home::copies> {};
struct CountRanges : Geometry<1024, 1, Home::copies> {};

/// Arguments of the three launches.
struct PartitionRun {
  const uint4* keys;
  std::int64_t count;
  std::int64_t tiles;  // whole ones
  Binning binning;
  unsigned* counts;
  int counters;
  PartitionPlan plan;
  unsigned* scratch;

  __device__ int block_tiles() const {
    return tiles_of_group(tiles, static_cast<int>(blockIdx.x), plan.blocks);
  }
  template <class C>
  __device__ const uint4* tile(int n) const {
    return keys + (blockIdx.x + std::int64_t{n} * plan.blocks) * C::tile_chunks;
  }
  __device__ unsigned short* ids() const { return reinterpret_cast<unsigned short*>(scratch); }
  /// Of each chunk: its range, and from bit 6 on its number among its block's of that range.
  __device__ unsigned* origin() const { return scratch + plan.id_words(); }
  /// The chunks by range: from bit 24 on the range, below the chunk.
  __device__ unsigned* list() const { return origin() + plan.chunks(); }
  __device__ unsigned* begin_of_block() const { return list() + plan.chunks(); }
  __device__ unsigned* used_by_block() const {
    return begin_of_block() + std::int64_t{plan.blocks} * plan.ranges;
  }
  __device__ unsigned* chunks_of_range() const { return used_by_block() + plan.blocks; }
  __device__ std::int64_t chunk_of_block(unsigned c) const {
    return blockIdx.x * plan.chunks_per_block + c;
  }
};

/// Behind the stages of the first launch. Lane l counts keys of range r in counted[..][r][l]: no
/// two lanes of a warp meet, whatever the keys. Two sets, one cleared while the other is used.
template <class C>
struct DealStorage {
  static constexpr int tile_keys = 4 * C::tile_chunks;
  static_assert(tile_keys <= chunk_ids);
  unsigned counted[2][most_ranges][32];  // then: of the tile's keys of range r, those before lane l
  unsigned total[most_ranges];
  unsigned start[most_ranges];        // of the range in the sorted tile
  unsigned split[most_ranges];        // from here on into the new chunk
  std::int64_t base[most_ranges][2];  // ids[base + place in the sorted tile]
  unsigned fill[most_ranges];         // ids in the current chunk
  unsigned chunk[most_ranges];        // its number among the block's
  unsigned opened[most_ranges];       // chunks of the range so far
  unsigned sorted[tile_keys];         // range << 16 | id
};

__device__ __forceinline__ unsigned sum_up_to_lane(unsigned value) {
#pragma unroll
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned lower = __shfl_up_sync(0xffffffffu, value, distance);
    if (threadIdx.x % 32 >= distance) value += lower;
  }
  return value;
}

/// The first warp: where each range begins in the sorted tile, and where its ids go. `used`: chunks
/// of the block so far.
template <class C>
__device__ void place_ranges(const PartitionRun& run, DealStorage<C>& s, unsigned& used) {
  unsigned before = 0;
  for (int first = 0; first < run.plan.ranges; first += 32) {
    const int r = first + static_cast<int>(threadIdx.x);
    const bool exists = r < run.plan.ranges;
    const unsigned keys = exists ? s.total[r] : 0;
    const unsigned through = sum_up_to_lane(keys);
    const unsigned start = before + through - keys;
    before += __shfl_sync(0xffffffffu, through, 31);
    const unsigned fill = exists ? s.fill[r] : 0;
    const InChunks place = place_in_chunks(fill, keys);
    const unsigned openers = __ballot_sync(0xffffffffu, exists && place.opens);
    const unsigned fresh = used + __popc(openers & ((1u << threadIdx.x) - 1));
    used += __popc(openers);
    if (!exists) continue;
    const std::int64_t in_chunk = std::int64_t{fill} - start;
    s.start[r] = start;
    s.split[r] = start + place.split;
    s.base[r][0] = run.chunk_of_block(s.chunk[r]) * chunk_ids + in_chunk;
    s.base[r][1] = run.chunk_of_block(fresh) * chunk_ids + in_chunk - chunk_ids;
    s.fill[r] = place.fill;
    if (place.opens) {
      run.origin()[run.chunk_of_block(fresh)] = static_cast<unsigned>(r) | s.opened[r] << 6;
      ++s.opened[r];
      s.chunk[r] = fresh;
    }
  }
}

template <class Pipeline>
struct DealShared {
  typename Pipeline::Storage stages;
  DealStorage<typename Pipeline::C> deal;
};

template <class Pipeline>
__global__ void __launch_bounds__(Pipeline::C::threads, Pipeline::C::blocks_per_sm)
    deal(PartitionRun run) {
  using C = typename Pipeline::C;
  auto& shared = *block_memory<DealShared<Pipeline>>();
  DealStorage<C>& s = shared.deal;
  const int ranges = run.plan.ranges;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  // Prologue
  admit_successor();
  for (int i = threadIdx.x; i < ranges; i += C::threads) {
    s.fill[i] = chunk_ids;  // the first id opens a chunk
    s.chunk[i] = s.opened[i] = 0;
  }
  for (int i = threadIdx.x; i < ranges * 32; i += C::threads) s.counted[0][i / 32][i % 32] = 0;
  __syncthreads();
  const int tiles = run.block_tiles();
  Pipeline pipeline{run, shared.stages, tiles};
  pipeline.prologue();
  unsigned used = 0;  // of the first warp
  // Main loop
  for (int n = 0; n < tiles; ++n) {
    unsigned counter[4 * C::chunks], before[4 * C::chunks];
    pipeline.next(n);
#pragma unroll
    for (int c = 0; c < C::chunks; ++c) {
      const uint4 words = pipeline.chunk(c);
      counter[4 * c] = bin_of(words.x, run.binning);
      counter[4 * c + 1] = bin_of(words.y, run.binning);
      counter[4 * c + 2] = bin_of(words.z, run.binning);
      counter[4 * c + 3] = bin_of(words.w, run.binning);
    }
    pipeline.consumer_release();
    auto& counted = s.counted[n % 2];
#pragma unroll
    for (int k = 0; k < 4 * C::chunks; ++k) {
      before[k] = atomicAdd(&counted[counter[k] / range_counters][lane], 1u);
    }
    __syncthreads();
    for (int r = warp; r < ranges; r += C::warps) {
      const unsigned own = counted[r][lane];
      const unsigned through = sum_up_to_lane(own);
      counted[r][lane] = through - own;
      if (lane == 31) s.total[r] = through;
      s.counted[1 - n % 2][r][lane] = 0;  // last read before the tile before this one was written
    }
    __syncthreads();
    if (warp == 0) place_ranges<C>(run, s, used);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4 * C::chunks; ++k) {
      const unsigned r = counter[k] / range_counters;
      s.sorted[s.start[r] + counted[r][lane] + before[k]] = r << 16 | counter[k] % range_counters;
    }
    __syncthreads();
#pragma unroll 4
    for (unsigned i = threadIdx.x; i < DealStorage<C>::tile_keys; i += C::threads) {
      const unsigned r = s.sorted[i] >> 16;
      run.ids()[s.base[r][i < s.split[r] ? 0 : 1] + i] = static_cast<unsigned short>(s.sorted[i]);
    }
  }
  // Epilogue
  __syncthreads();
  for (int r = 0; r < ranges; ++r) {
    if (s.opened[r] == 0) continue;
    unsigned short* const chunk = run.ids() + run.chunk_of_block(s.chunk[r]) * chunk_ids;
    for (unsigned i = s.fill[r] + threadIdx.x; i < chunk_ids; i += C::threads) {
      chunk[i] = static_cast<unsigned short>(pad_id);
    }
  }
  for (int r = threadIdx.x; r < ranges; r += C::threads) {
    run.begin_of_block()[blockIdx.x * std::int64_t{ranges} + r] =
        atomicAdd(run.chunks_of_range() + r, s.opened[r]);
  }
  if (threadIdx.x == 0) run.used_by_block()[blockIdx.x] = used;
  for (std::int64_t i = run.tiles * DealStorage<C>::tile_keys +
                        std::int64_t{blockIdx.x} * C::threads + threadIdx.x;
       i < run.count; i += std::int64_t{run.plan.blocks} * C::threads) {
    atomicAdd(run.counts + Words::counter_at(run.keys, i, run.binning), 1u);
  }
}

inline constexpr int arrange_threads = 256;

/// A block per block of the first launch.
template <class C>
__global__ void __launch_bounds__(arrange_threads) arrange(PartitionRun run) {
  follow_predecessor();
  const unsigned used = run.used_by_block()[blockIdx.x];
  for (unsigned c = threadIdx.x; c < used; c += arrange_threads) {
    const auto chunk = static_cast<unsigned>(run.chunk_of_block(c));
    const unsigned origin = run.origin()[chunk], range = origin & 63;
    unsigned place = run.begin_of_block()[blockIdx.x * std::int64_t{run.plan.ranges} + range];
    for (unsigned r = 0; r < range; ++r) place += run.chunks_of_range()[r];
    run.list()[place + (origin >> 6)] = range << 24 | chunk;
  }
}

/// Where the tiles of the last launch are: `list` points at the block's first chunk.
struct ListedChunks {
  const unsigned* ids;
  const unsigned* list;

  __device__ unsigned range(int n) const { return __ldg(list + n) >> 24; }
  template <class C>
  __device__ const uint4* tile(int n) const {
    static_assert(C::tile_bytes == 2 * chunk_ids);
    return reinterpret_cast<const uint4*>(ids) +
           std::int64_t{__ldg(list + n) & 0xffffffu} * C::tile_chunks;
  }
};

/// Two ids of 16 bits in a word.
struct Ids {
  template <class Add>
  AMASIA_HD static void visit(std::uint32_t word, const Binning&, Add add) {
    add(word & 0xffff);
    add(word >> 16);
  }
};

inline constexpr int kept_of_range = range_counters + 4;  // with that of pad_id

/// Adds the counters of a range to the result and clears them. Between block barriers.
template <class C>
__device__ void add_range(const PartitionRun& run, unsigned* words, unsigned range) {
  const int first = static_cast<int>(range) * range_counters;
  for (int i = threadIdx.x; i < range_counters; i += C::threads) {
    const unsigned sum = words[i];
    if (sum == 0) continue;
    atomicAdd(run.counts + first + i, sum);
    words[i] = 0;
  }
}

template <class Pipeline>
struct CountShared {
  typename Pipeline::Storage stages;
  alignas(16) unsigned words[kept_of_range];
};

template <class Pipeline>
__global__ void __launch_bounds__(Pipeline::C::threads, Pipeline::C::blocks_per_sm)
    count_ranges(PartitionRun run) {
  using C = typename Pipeline::C;
  auto& shared = *block_memory<CountShared<Pipeline>>();
  // Prologue
  for (int i = threadIdx.x; i < kept_of_range; i += C::threads) shared.words[i] = 0;
  wait_for_predecessor();
  std::int64_t chunks = 0;
  for (int r = 0; r < run.plan.ranges; ++r) chunks += run.chunks_of_range()[r];
  const std::int64_t begin = chunks * blockIdx.x / gridDim.x;
  const auto tiles = static_cast<int>(chunks * (blockIdx.x + 1) / gridDim.x - begin);
  const ListedChunks source{run.scratch, run.list() + begin};
  const LaneCounters<Ids> counters(shared.words, 0, run.binning);
  __syncthreads();
  Pipeline pipeline{source, shared.stages, tiles};
  pipeline.prologue();
  unsigned range = tiles > 0 ? source.range(0) : 0;
  // Main loop
  for (int n = 0; n < tiles; ++n) {
    if (const unsigned now = source.range(n); now != range) {
      __syncthreads();
      add_range<C>(run, shared.words, range);
      __syncthreads();
      range = now;
    }
    pipeline.next(n);
    count_tile<C>(counters, pipeline);
    pipeline.consumer_release();
  }
  // Epilogue
  __syncthreads();
  if (tiles > 0) add_range<C>(run, shared.words, range);
}

// The host's side.

/// With a variant's pipeline of STAGES stages in both launches. SCHEDULE: Partitioned or
/// PartitionedDependent.
template <template <class, class> class PIPELINE, int STAGES, class SCHEDULE = Partitioned>
ConfigOf<Problem> partitioned() {
  using DEAL = PIPELINE<KernelConfig<Deal, Movement<STAGES, 2>>, PartitionRun>;
  using COUNT = PIPELINE<KernelConfig<CountRanges, Movement<STAGES, 1>>, ListedChunks>;
  using D = typename DEAL::C;
  using N = typename COUNT::C;
  const auto deal_kernel = deal<DEAL>;
  const auto count_kernel = count_ranges<COUNT>;
  const auto arrange_kernel = arrange<D>;
  LaunchShape dealing, counting;
  dealing.block = dim3(D::threads);
  dealing.dynamic_shared_bytes = sizeof(DealShared<DEAL>);
  counting.block = dim3(N::threads);
  counting.dynamic_shared_bytes = sizeof(CountShared<COUNT>);
  ConfigOf<Problem> config;
  config.info.name = config_name<D>(SCHEDULE::name);
  config.info.schedule = SCHEDULE::name;
  config.info.geometry = {{"deal_threads", D::threads},
                          {"deal_blocks_per_sm", D::blocks_per_sm},
                          {"threads", N::threads},
                          {"blocks_per_sm", N::blocks_per_sm},
                          {"range_counters", range_counters}};
  config.info.movement = {{"stages", D::stages}, {"stage_bytes", D::tile_bytes}};
  config.info.kernels = {{reinterpret_cast<const void*>(deal_kernel), D::threads,
                          dealing.dynamic_shared_bytes, 1, bytes_in_flight<D>},
                         {reinterpret_cast<const void*>(count_kernel), N::threads,
                          counting.dynamic_shared_bytes, 1, bytes_in_flight<N>},
                         {reinterpret_cast<const void*>(arrange_kernel), arrange_threads}};
  config.unsupported = [=](const Problem& p, const Device& device) -> std::optional<std::string> {
    if (auto reason = start_objection(SCHEDULE::start, device)) return reason;
    if (p.scratch == nullptr) {
      return "the counters fit two ranges of " + std::to_string(range_counters) +
             ": there is nothing to deal out";
    }
    const std::int64_t needed = static_cast<std::int64_t>(
        std::max(dealing.dynamic_shared_bytes * D::blocks_per_sm, counting.dynamic_shared_bytes));
    if (needed <= shared_budget(device, 1)) return std::nullopt;
    return "the counters of a range and the stages need " + std::to_string(needed) +
           " bytes of shared memory, an SM has " + std::to_string(shared_budget(device, 1));
  };
  config.prepare = [=](const Problem& p, const Device& device) -> Launch {
    PartitionRun run{};
    run.keys = static_cast<const uint4*>(p.keys);
    run.count = p.count;
    run.tiles = p.count * 4 / D::tile_bytes;
    run.binning = p.binning;
    run.counts = p.counts;
    run.counters = static_cast<int>(p.counters);
    run.scratch = p.scratch;
    allow_launch(reinterpret_cast<const void*>(deal_kernel), dealing);
    allow_launch(reinterpret_cast<const void*>(count_kernel), counting);
    const int resident = std::min(
        resident_blocks(reinterpret_cast<const void*>(deal_kernel), dealing, device.sm_count),
        D::blocks_per_sm * device.sm_count);
    const int blocks = useful_groups(std::min(resident, most_partition_blocks), run.tiles);
    run.plan = plan_partition(p.counters, run.tiles, DealStorage<D>::tile_keys, blocks);
    LaunchShape first = dealing;
    first.grid = dim3(static_cast<unsigned>(blocks));
    FollowingShape between{{first.grid, dim3(arrange_threads)}}, last{counting};
    last.grid = dim3(static_cast<unsigned>(device.sm_count));
    between.early = last.early = SCHEDULE::start == Start::dependent;
    unsigned* const zeroed = p.scratch + run.plan.words() - run.plan.ranges;  // chunks_of_range()
    const std::size_t zeroed_bytes = sizeof(unsigned) * static_cast<std::size_t>(run.plan.ranges);
    return clear_then(p, [=](Stream stream) {
      AMASIA_CUDA(cudaMemsetAsync(zeroed, 0, zeroed_bytes, stream));
      launch(deal_kernel, first, stream, run);
      launch(arrange_kernel, between, stream, run);
      launch(count_kernel, last, stream, run);
    });
  };
  return config;
}

}  // namespace amasia::histogram
