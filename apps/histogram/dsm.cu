// histogram/dsm: the blocks of a cluster share what no block could do alone, in three ways, which
// are its movements.
//
//   merge-C       every block has all counters; the cluster adds up its blocks' before they go to
//                 global memory, so that there are C times fewer atomic additions
//   multicast-C   the counters are spread over the cluster, and every key comes to every block:
//                 counters that do not fit one SM, without an increment that leaves it
//   spread-C      the counters are spread over the cluster, and every increment goes to the block
//                 that keeps its counter (seed 000, Fig. 9)
//
// Three kernels, each with the phases of the other variants; a file of more than 150 lines.
#include "apps/histogram/bulk_tiles.cuh"
#include "apps/histogram/cluster_config.cuh"
#include "apps/histogram/multicast_tiles.cuh"
#include "apps/histogram/original.cuh"

namespace amasia::histogram {
namespace {

/// Adds one to counter i of a set that is dealt out to the cluster one by one: counter i lies in
/// block i % blocks, there at i / blocks.
struct SpreadCounters {
  const unsigned* own;  // this block's counters
  unsigned log2_blocks;

  __device__ void add(unsigned counter) const {
    const unsigned block = counter & ((1u << log2_blocks) - 1);
    dsm::add_remote(dsm::remote_address(own + (counter >> log2_blocks), block), 1);
  }
};

/// Visits the four words of a chunk.
template <class Keys, class Add>
__device__ __forceinline__ void visit_chunk(uint4 words, const Binning& binning, Add add) {
  Keys::visit(words.x, binning, add);
  Keys::visit(words.y, binning, add);
  Keys::visit(words.z, binning, add);
  Keys::visit(words.w, binning, add);
}

// iso: the sample's geometry; a pair of blocks keeps one set of six sub-histograms, half each.
constexpr int original_cluster = 2;

template <class Keys, int STEP>
__global__ void __launch_bounds__(original_threads) dsm_original(OriginalRun run) {
  auto* const counters = block_memory<unsigned>();  // (warps, counters of this block)
  // Prologue
  const int kept = (run.counters + original_cluster - 1) / original_cluster;
  for (int i = threadIdx.x; i < original_warps * kept; i += original_threads) counters[i] = 0;
  dsm::cluster_sync();
  const SpreadCounters warp{counters + threadIdx.x / 32 * kept, 1};
  const auto add = [&](unsigned counter) { warp.add(counter); };
  const std::int64_t thread = std::int64_t{blockIdx.x} * original_threads + threadIdx.x;
  const std::int64_t words = run.words<Keys>();
  // Main loop
  constexpr std::int64_t all = original_blocks * original_threads;
  if constexpr (STEP == 16) {
    const auto* chunks = reinterpret_cast<const uint4*>(run.keys);
    for (std::int64_t c = thread; c < words / 4; c += all) {
      visit_chunk<Keys>(chunks[c], run.binning, add);
    }
  }
  for (std::int64_t w = (STEP == 16 ? words / 4 * 4 : 0) + thread; w < words; w += all) {
    Keys::visit(run.keys[w], run.binning, add);
  }
  const std::int64_t key = words * Keys::per_word + thread;
  if (key < run.count) add(Keys::counter_at(run.keys, key, run.binning));
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

/// Counter i of block `rank`, whose copies have been gathered.
template <class C>
__device__ unsigned remote_counter(const unsigned* words, int i, unsigned rank) {
  if constexpr (C::home == Home::packed) {
    const auto two = static_cast<unsigned>(dsm::load(dsm::remote_address(words + i / 2, rank)));
    return i % 2 == 0 ? two & 0xffff : two >> 16;
  } else {
    return static_cast<unsigned>(dsm::load(dsm::remote_address(words + i, rank)));
  }
}

// merge-C: tma's ring; the blocks of a cluster each add up a share of the counters.
template <class Keys, class C>
__global__ void __launch_bounds__(C::launched_threads, C::blocks_per_sm) merging(Run run) {
  auto& shared = *block_memory<BulkStorage<C>>();
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(&shared + 1);
  const Counters<Keys, C> counters(run, words);
  BulkPipeline<C, Run> pipeline{run, shared, run.block_tiles()};
  clear_counters<C>(words, run.plan);
  pipeline.prologue();
  // Main loop
  count_bulk_tiles<Keys, C>(run, pipeline, counters);
  // Epilogue
  __syncthreads();
  if constexpr (C::home != Home::packed) gather_copies<C>(words, run.plan);
  dsm::cluster_sync();
  const unsigned blocks = dsm::size();
  for (int i = static_cast<int>(dsm::rank()) * C::launched_threads + threadIdx.x; i < run.counters;
       i += static_cast<int>(blocks) * C::launched_threads) {
    unsigned sum = 0;
    for (unsigned r = 0; r < blocks; ++r) sum += remote_counter<C>(words, i, r);
    if (sum != 0) atomicAdd(run.counts + Keys::bin_of_counter(i, run.binning), sum);
  }
  dsm::cluster_sync();  // shared memory must outlive the neighbours' reads
}

// multicast-C: a warp asks for tiles, a second one tells the cluster what has been read.
template <class Keys, class C>
__global__ void __launch_bounds__(C::launched_threads, C::blocks_per_sm) multicast(Run run) {
  static_assert(C::producer_warps == multicast_producer_warps);
  auto& shared = *block_memory<MulticastStorage<C>>();
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(&shared + 1);
  const Counters<Keys, C> counters(run, words);
  init_barriers<C>(shared);
  clear_counters<C>(words, run.plan);
  dsm::cluster_sync();
  const int tiles = run.block_tiles();
  // Main loop
  if (threadIdx.x >= C::threads + 32) {
    pass_on_releases<C>(tiles, shared);
  } else if (threadIdx.x >= C::threads) {
    if (threadIdx.x == C::threads) produce_multicast<C>(run, tiles, shared);
    __syncwarp();
  } else {
    MulticastPipeline<C> pipeline{shared};
    for (int n = 0; n < tiles; ++n) {
      pipeline.consumer_wait();
      count_tile<C>(counters, pipeline);
      pipeline.consumer_release();
      counters.counted_tile(n);
    }
    count_rest<Keys, C>(run, counters);
  }
  // Epilogue
  __syncwarp();
  dsm::cluster_sync();  // shared memory must outlive what the neighbours send
  if (threadIdx.x < C::threads) counters.add_to_result(run);
}

// spread-C: keys through registers, a chunk ahead. `run.plan.window` counters per block.
template <class Keys>
__global__ void __launch_bounds__(1024) spread(Run run) {
  auto* const counters = block_memory<unsigned>();
  const int threads = static_cast<int>(blockDim.x), blocks = static_cast<int>(dsm::size());
  // Prologue
  for (int i = threadIdx.x; i < run.plan.window; i += threads) counters[i] = 0;
  dsm::cluster_sync();
  const SpreadCounters cluster{counters, static_cast<unsigned>(__ffs(blocks) - 1)};
  const auto add = [&](unsigned counter) { cluster.add(counter); };
  const std::int64_t thread = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t all = std::int64_t{gridDim.x} * threads;
  const std::int64_t chunks = run.count / (4 * Keys::per_word);
  uint4 next = thread < chunks ? __ldg(run.keys + thread) : uint4{};
  // Main loop
  for (std::int64_t c = thread; c < chunks; c += all) {
    const uint4 now = next;
    if (c + all < chunks) next = __ldg(run.keys + c + all);
    visit_chunk<Keys>(now, run.binning, add);
  }
  const std::int64_t key = chunks * 4 * Keys::per_word + thread;
  if (key < run.count) add(Keys::counter_at(run.keys, key, run.binning));
  // Epilogue
  __syncwarp();         // threads leave the loop one by one, the barrier wants whole warps
  dsm::cluster_sync();  // all increments are done, everywhere
  for (int i = threadIdx.x; i < run.plan.window; i += threads) {
    const unsigned counter = i * blocks + dsm::rank();
    const unsigned sum = counters[i];
    if (sum != 0) atomicAdd(run.counts + Keys::bin_of_counter(counter, run.binning), sum);
  }
}

/// "512x2/merge-2", and the producer warps where others have none.
template <class SCHEDULE, class MOVEMENT>
ConfigOf<Problem> merge_config(int cluster) {
  using C = KernelConfig<SCHEDULE, MOVEMENT>;
  std::string name = std::string(C::name) + "/merge-" + std::to_string(cluster);
  if (C::producer_warps > 0) name += "-" + std::to_string(C::producer_warps) + "-producers";
  return configured(
      info_of<C>(name),
      {Way::merge, C::home,
       kernels_of<C, false>([](auto keys) { return merging<decltype(keys), C>; }), cluster,
       C::launched_threads, C::blocks_per_sm, sizeof(BulkStorage<C>), make_run<C>},
      (C::stages - 1) * C::tile_bytes);
}

template <class SCHEDULE, class MOVEMENT>
ConfigOf<Problem> multicast_config(int cluster) {
  using C = KernelConfig<SCHEDULE, MOVEMENT>;
  return configured(info_of<C>(std::string(C::name) + "/multicast-" + std::to_string(cluster)),
                    {Way::multicast,
                     C::home,
                     {nullptr, multicast<Sliced<Words>, C>},
                     cluster,
                     C::launched_threads,
                     C::blocks_per_sm,
                     sizeof(MulticastStorage<C>),
                     make_run<C>},
                    C::stages * C::tile_bytes / static_cast<std::size_t>(cluster));
}

template <class SCHEDULE>
ConfigOf<Problem> spread_config(int cluster) {
  using C = KernelConfig<SCHEDULE, Movement<2, 1>>;
  return configured(info_of<C>(std::string(C::name) + "/spread-" + std::to_string(cluster)),
                    {Way::spread,
                     C::home,
                     {spread<Bytes>, spread<Words>},
                     cluster,
                     C::threads,
                     C::blocks_per_sm,
                     0,
                     make_run<C>},
                    C::tile_bytes);
}

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{
      original<4>(dsm_original<Bytes, 4>, dsm_original<Words, 4>, 1, 0, original_cluster),
      original<16>(dsm_original<Bytes, 16>, dsm_original<Words, 16>, 1, 0, original_cluster),
      merge_config<Two1024, Movement<3, 1>>(2),
      merge_config<Two1024, Movement<3, 1>>(4),
      merge_config<One1024, Movement<5, 1>>(2),
      merge_config<Two512, Movement<5, 1>>(2),
      merge_config<Two512, Movement<3, 2, 1>>(2),
      merge_config<Four512, Movement<3, 1>>(2),
      merge_config<Packed, Movement<3, 1>>(2),
      merge_config<Packed, Movement<3, 1, 1>>(2)};
  using Shared = Movement<6, 1, multicast_producer_warps>;
  for (const int cluster : {2, 4, 8}) all.push_back(multicast_config<Packed, Shared>(cluster));
  for (const int cluster : {2, 4, 8, 16}) all.push_back(multicast_config<Ranges, Shared>(cluster));
  for (const int cluster : {1, 2, 4, 8, 16}) all.push_back(spread_config<One1024>(cluster));
  for (const int cluster : {1, 2, 4, 8, 16}) all.push_back(spread_config<Two512>(cluster));
  return all;
}

const bool registered = register_variant<Problem>(
    "histogram", Strategy::dsm, configs(),
    {{Global::name,
      "with all counters in global memory each key is read once, by one block, and nothing is left "
      "that the blocks of a cluster could share"},
     {Partitioned::name,
      "it brings keys to the block that keeps their counter through global memory, which is what "
      "a cluster does by multicast or remote increments, in one launch (ranges, packed, 1024x1)"}});

}  // namespace
}  // namespace amasia::histogram
