// histogram/dsm: the blocks of a cluster share what no block could do alone, in three ways.
//
//   merge-C         every block has all bins; the cluster adds up its blocks' counts before they go
//                   to global memory, so that there are C times fewer atomic additions
//   multicast-C     the bins are spread over the cluster, and every key comes to every block: bins
//                   that do not fit one SM, without an increment that leaves it
//   cluster-C T-threads   the bins are spread over the cluster, and every increment goes to the
//   block
//                   that keeps its bin (seed 000): the sweep of its Fig. 9
#include "apps/histogram/multicast_tiles.cuh"
#include "apps/histogram/original.cuh"
#include "variants/geometry/ring.hpp"

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

// iso: the sample's geometry; a pair of blocks keeps one set of six sub-histograms, half each.
constexpr int original_cluster = 2;

template <class Keys>
__global__ void __launch_bounds__(original_threads) dsm_original(OriginalRun run) {
  extern __shared__ unsigned counters[];  // (warps, counters of this block)
  const int kept = (run.counters + original_cluster - 1) / original_cluster;
  for (int i = threadIdx.x; i < original_warps * kept; i += original_threads) counters[i] = 0;
  dsm::cluster_sync();
  const SpreadCounters warp{counters + threadIdx.x / 32 * kept, 1};
  const auto add = [&](unsigned counter) { warp.add(counter); };
  const std::int64_t thread = std::int64_t{blockIdx.x} * original_threads + threadIdx.x;
  const std::int64_t words = run.words<Keys>();
  for (std::int64_t w = thread; w < words; w += original_blocks * original_threads) {
    Keys::visit(run.keys[w], run.binning, add);
  }
  const std::int64_t key = words * Keys::per_word + thread;
  if (key < run.count) add(Keys::counter_at(run.keys, key, run.binning));
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

// merge-C
template <class Keys, class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) merging(Run run) {
  extern __shared__ __align__(128) uint4 ring[];
  __shared__ RingBarriers<S> barriers;
  auto* counters = reinterpret_cast<unsigned*>(ring + S::stages * S::tile_chunks);
  BulkTiles<S> mover{run, ring, barriers};
  clear_counters(counters, run.plan, S::threads);
  mover.prepare();
  count_tiles<Keys, S>(run, mover, counters);
  __syncthreads();
  gather_copies<S>(counters, run.plan);
  dsm::cluster_sync();
  // A block adds up a share of the counters over all blocks.
  const int blocks = static_cast<int>(dsm::size());
  for (int i = static_cast<int>(dsm::rank()) * S::threads + threadIdx.x; i < run.counters;
       i += blocks * S::threads) {
    unsigned sum = 0;
    for (int r = 0; r < blocks; ++r) {
      sum += static_cast<unsigned>(dsm::load(dsm::remote_address(counters + i, r)));
    }
    if (sum != 0) atomicAdd(run.counts + Keys::bin_of_counter(i, run.binning), sum);
  }
  dsm::cluster_sync();  // shared memory must outlive the neighbours' reads
}

// multicast-C
template <class S>
constexpr int multicast_threads = S::threads + 32 * helper_warps;

template <class Keys, class S>
__global__ void __launch_bounds__(multicast_threads<S>, S::blocks_per_sm) multicast(Run run) {
  extern __shared__ __align__(128) uint4 ring[];
  __shared__ ClusterBarriers<S> barriers;
  auto* counters = reinterpret_cast<unsigned*>(ring + S::stages * S::tile_chunks);
  init_barriers<S>(barriers);
  clear_counters(counters, run.plan, multicast_threads<S>);
  dsm::cluster_sync();
  if (threadIdx.x >= S::threads + 32) {
    report_read<S>(run.block_tiles(), barriers);
  } else if (threadIdx.x >= S::threads) {
    if (threadIdx.x == S::threads) ask_multicast<S>(run, run.block_tiles(), ring, barriers);
    __syncwarp();
  } else {
    MulticastTiles<S> mover{ring, barriers};
    count_tiles<Keys, S>(run, mover, counters);
  }
  __syncwarp();
  dsm::cluster_sync();  // shared memory must outlive what the neighbours send
  if (threadIdx.x < S::threads) add_to_result<Keys, S>(run, counters);
}

// cluster-C T-threads: keys through registers, a chunk ahead. `run.plan.window` counters per block.
constexpr int most_spread_threads = 1024;

template <class Keys>
__global__ void __launch_bounds__(most_spread_threads) spread(Run run) {
  extern __shared__ __align__(16) unsigned counters[];
  const int threads = static_cast<int>(blockDim.x), blocks = static_cast<int>(dsm::size());
  clear_counters(counters, run.plan, threads);
  dsm::cluster_sync();
  const SpreadCounters cluster{counters, static_cast<unsigned>(__ffs(blocks) - 1)};
  const auto add = [&](unsigned counter) { cluster.add(counter); };
  const std::int64_t thread = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t all = std::int64_t{gridDim.x} * threads;
  const std::int64_t chunks = run.count / (4 * Keys::per_word);
  uint4 next = thread < chunks ? __ldg(run.keys + thread) : uint4{};
  for (std::int64_t c = thread; c < chunks; c += all) {
    const uint4 now = next;
    if (c + all < chunks) next = __ldg(run.keys + c + all);
    Keys::visit(now.x, run.binning, add);
    Keys::visit(now.y, run.binning, add);
    Keys::visit(now.z, run.binning, add);
    Keys::visit(now.w, run.binning, add);
  }
  const std::int64_t key = chunks * 4 * Keys::per_word + thread;
  if (key < run.count) add(Keys::counter_at(run.keys, key, run.binning));
  __syncwarp();         // threads leave the loop one by one, the barrier wants whole warps
  dsm::cluster_sync();  // all increments are done, everywhere
  for (int i = threadIdx.x; i < run.plan.window; i += threads) {
    const unsigned counter = i * blocks + dsm::rank();
    const unsigned sum = counters[i];
    if (sum != 0) atomicAdd(run.counts + Keys::bin_of_counter(counter, run.binning), sum);
  }
}

enum class Way { merge, multicast, spread };

/// A way with its kernels and geometry; what the three have in common.
struct ClusterConfig {
  Way way;
  CountKernels kernels;
  int cluster;
  int threads;  // launched, per block
  int blocks_per_sm;
  std::size_t ring_bytes;
  Run (*make_run)(const Problem&, const CounterPlan&);

  /// What one block keeps. 0 windows: it does not fit.
  CounterPlan plan(const Problem& p, const Device& device) const {
    const std::int64_t budget =
        shared_budget(device, blocks_per_sm) - static_cast<std::int64_t>(ring_bytes);
    if (way == Way::multicast) return plan_counters(p.counters, budget, cluster);
    CounterPlan one =
        plan_counters(way == Way::merge ? p.counters : ceil_div(p.counters, cluster), budget);
    if (one.windows > 1) one.windows = 0;
    if (way == Way::spread) one.log2_copies = 0;
    return one;
  }
  LaunchShape shape(const CounterPlan& plan) const {
    LaunchShape s;
    s.block = dim3(static_cast<unsigned>(threads));
    s.dynamic_shared_bytes = ring_bytes + static_cast<std::size_t>(plan.bytes());
    s.cluster_blocks = static_cast<unsigned>(cluster);
    return s;
  }
  const void* kernel(const Problem& p, const CounterPlan& plan) const {
    return reinterpret_cast<const void*>(kernels.of(p, plan));
  }
  std::optional<std::string> unsupported(const Problem& p, const Device& device) const {
    const CounterPlan fits = plan(p, device);
    if (fits.windows == 0) {
      return std::to_string(p.counters) + " counters do not fit in the " +
             std::to_string(shared_budget(device, blocks_per_sm)) + " bytes of " +
             (way == Way::merge ? "a block" : "each of " + std::to_string(cluster) + " blocks");
    }
    allow_launch(kernel(p, fits), shape(fits));
    if (resident_blocks(kernel(p, fits), shape(fits), device.sm_count) > 0) return std::nullopt;
    return "no cluster of " + std::to_string(cluster) + " blocks with " +
           std::to_string(shape(fits).dynamic_shared_bytes) + " bytes of shared memory each fits";
  }
  Launch prepare(const Problem& p, const Device& device) const {
    const CounterPlan plan = this->plan(p, device);
    LaunchShape launched = shape(plan);
    allow_launch(kernel(p, plan), launched);
    const int resident = resident_blocks(kernel(p, plan), launched, device.sm_count);
    Run run = make_run(p, plan);
    if (way == Way::multicast) {
      run.groups = useful_groups(resident / plan.windows, run.tiles);
    } else {
      const int clusters = useful_groups(resident / cluster, ceil_div(run.tiles, cluster));
      run.groups = clusters * cluster;
    }
    launched.grid = dim3(static_cast<unsigned>(run.groups * plan.windows));
    return clear_then(p, [run, launched, kernel = kernels.of(p, plan)](Stream stream) {
      launch(kernel, launched, stream, run);
    });
  }
};

ConfigOf<Problem> configured(std::string name, const ClusterConfig& c, std::size_t in_flight) {
  ConfigOf<Problem> config;
  config.info.name = std::move(name);
  config.info.geometry = {
      {"cluster_blocks", c.cluster}, {"threads", c.threads}, {"blocks_per_sm", c.blocks_per_sm}};
  config.info.reference_only = c.cluster == 1;  // the sweep's starting point: nothing is remote
  for (const CountKernel kernel : {c.kernels.words, c.kernels.bytes, c.kernels.sliced_words}) {
    config.info.kernels.push_back({reinterpret_cast<const void*>(kernel), c.threads,
                                   c.ring_bytes + nominal_counter_bytes / c.cluster, c.cluster,
                                   in_flight});
  }
  config.prepare = [c](const Problem& p, const Device& d) { return c.prepare(p, d); };
  config.unsupported = [c](const Problem& p, const Device& d) { return c.unsupported(p, d); };
  return config;
}

template <class S>
ConfigOf<Problem> merge_config(int cluster) {
  return configured("merge-" + std::to_string(cluster),
                    {Way::merge,
                     {merging<Bytes, S>, merging<Words, S>, merging<Words, S>},
                     cluster,
                     S::threads,
                     S::blocks_per_sm,
                     S::stages * S::tile_bytes,
                     make_run<S>},
                    (S::stages - 1) * S::tile_bytes);
}

template <class S>
ConfigOf<Problem> multicast_config(int cluster) {
  return configured(
      "multicast-" + std::to_string(cluster),
      {Way::multicast,
       {multicast<Sliced<Bytes>, S>, multicast<Words, S>, multicast<Sliced<Words>, S>},
       cluster,
       multicast_threads<S>,
       S::blocks_per_sm,
       S::stages * S::tile_bytes,
       make_run<S>},
      S::stages * S::tile_bytes / static_cast<std::size_t>(cluster));
}

ConfigOf<Problem> spread_config(int cluster, int threads) {
  return configured(
      "cluster-" + std::to_string(cluster) + " " + std::to_string(threads) + "-threads",
      {Way::spread,
       {spread<Bytes>, spread<Words>, spread<Words>},
       cluster,
       threads,
       1,
       0,
       make_run<Shape<1024, 1, 1, 1>>},
      static_cast<std::size_t>(16 * threads));
}

std::vector<ConfigOf<Problem>> configs() {
  using Ring = Shape<1024, 1, 3, 2>;
  using SharedRing = Shape<512, 2, 6, 1>;
  std::vector<ConfigOf<Problem>> all{original(dsm_original<Bytes>, dsm_original<Words>, 0,
                                              4 * original_threads, original_cluster)};
  for (const int cluster : {2, 4}) all.push_back(merge_config<Ring>(cluster));
  for (const int cluster : {2, 4, 8, 16}) all.push_back(multicast_config<SharedRing>(cluster));
  for (const int cluster : {1, 2, 4, 8, 16}) {
    for (const int threads : {128, 512, 1024}) all.push_back(spread_config(cluster, threads));
  }
  return all;
}

const bool registered = register_variant<Problem>("histogram", Strategy::dsm, configs());

}  // namespace
}  // namespace amasia::histogram
