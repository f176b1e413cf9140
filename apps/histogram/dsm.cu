// histogram/dsm: the blocks of a cluster share what no block could do alone, in three ways, which
// are its movements.
//
//   merge-C       every block has all counters; the cluster adds up its blocks' before they go to
//                 global memory, so that there are C times fewer atomic additions
//   multicast-C   the counters are spread over the cluster, and every key comes to every block:
//                 counters that do not fit one SM, without an increment that leaves it
//   spread-C      the counters are spread over the cluster, and every increment goes to the block
//                 that keeps its counter (spread_counters.cuh; so does iso)
#include "apps/histogram/bulk_tiles.cuh"
#include "apps/histogram/cluster_config.cuh"
#include "apps/histogram/multicast_tiles.cuh"
#include "apps/histogram/spread_counters.cuh"

namespace amasia::histogram {
namespace {

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

/// "512x2/merge-2", and the producer warps where others have none.
template <class SCHEDULE, int PRODUCERS = 0>
ConfigOf<Problem> merge_config(int cluster) {
  using C = KernelConfig<SCHEDULE, Ring<SCHEDULE, PRODUCERS>>;
  const auto kernels = kernels_of<C, false>([](auto keys) { return merging<decltype(keys), C>; });
  return clustered<C>(Way::merge, cluster, kernels, sizeof(BulkStorage<C>), bytes_in_flight<C>);
}

/// A message is a block's share of a tile.
template <class SCHEDULE>
ConfigOf<Problem> multicast_config(int cluster) {
  using C = KernelConfig<SCHEDULE, Ring<SCHEDULE, multicast_producer_warps>>;
  const CountKernels kernels{nullptr, multicast<Sliced<Words>, C>};
  return clustered<C>(Way::multicast, cluster, kernels, sizeof(MulticastStorage<C>),
                      C::stages * C::tile_bytes / static_cast<std::size_t>(cluster));
}

template <class SCHEDULE>
ConfigOf<Problem> spread_config(int cluster) {
  using C = KernelConfig<SCHEDULE, Movement<2, 1>>;
  const CountKernels kernels{spread<Bytes>, spread<Words>};
  return clustered<C>(Way::spread, cluster, kernels, 0, bytes_in_flight<C>);
}

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{
      original<4>(dsm_original<Bytes, 4>, dsm_original<Words, 4>, 1, 0, original_cluster),
      original<16>(dsm_original<Bytes, 16>, dsm_original<Words, 16>, 1, 0, original_cluster),
      merge_config<Two1024>(2),
      merge_config<One1024>(2),
      merge_config<Two512>(2),
      merge_config<Two512, 1>(2),
      merge_config<Four512>(2),
      merge_config<Packed>(2),
      merge_config<Packed, 1>(2),
      merge_config<Ranges>(2),
      merge_config<Ranges, 1>(2)};
  for (const int cluster : {2, 4}) all.push_back(multicast_config<Packed>(cluster));
  for (const int cluster : {2, 4}) all.push_back(multicast_config<Ranges>(cluster));
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
