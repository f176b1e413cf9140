// histogram/dsm: the blocks of a cluster share what no block could do alone, in three ways, which
// are its movements.
//
// - merge-C: every block has all counters. The cluster adds them up before they go to global
//   memory: C times fewer atomic additions.
// - merge-bulk-C: the same by bulk reductions into each other's memory.
// - multicast-C: the counters are spread over the cluster, and every key comes to every block.
//   There is room for more counters than in one SM, and no increment leaves it.
// - spread-C: the counters are spread over the cluster, and every increment goes to the block that
//   keeps its counter (spread_counters.cuh). So it is at iso.
#include "apps/histogram/bulk_tiles.cuh"
#include "apps/histogram/cluster_config.cuh"
#include "apps/histogram/cluster_sums.cuh"
#include "apps/histogram/multicast_tiles.cuh"
#include "apps/histogram/spread_counters.cuh"

namespace amasia::histogram {
namespace {

// merge-C, merge-bulk-C: tma's ring; the blocks of a cluster each add up a share of the counters.
template <class Keys, class C, Way WAY>
__global__ void __launch_bounds__(C::launched_threads, C::blocks_per_sm) merging(Run run) {
  auto& shared = *block_memory<BulkStorage<C>>();
  __shared__ tma::Barrier merged;
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(&shared + 1);
  Counters<Keys, C> counters(run, words);
  BulkPipeline<C, Run> pipeline{run, shared, run.block_tiles()};
  clear_counters<C>(words, run.plan);
  if (WAY == Way::merge_bulk && threadIdx.x == 0) tma::init(&merged, 1);  // prologue() fences it
  pipeline.prologue();
  // Main loop
  count_bulk_tiles<Keys, C>(run, pipeline, counters);
  // Epilogue
  __syncthreads();
  if constexpr (!in_halves(C::home)) gather_copies<C>(words, run.plan);
  if constexpr (WAY == Way::merge_bulk) {
    add_cluster_by_bulk<Keys, C>(run, words, &merged);
  } else {
    add_cluster_by_loads<Keys, C>(run, words);
  }
}

// multicast-C: a warp asks for tiles.
template <class Keys, class C>
__global__ void __launch_bounds__(C::launched_threads, C::blocks_per_sm) multicast(Run run) {
  static_assert(C::producer_warps == 1);
  auto& shared = *block_memory<MulticastStorage<C>>();
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(&shared + 1);
  Counters<Keys, C> counters(run, words);
  init_barriers<C>(shared);
  clear_counters<C>(words, run.plan);
  dsm::cluster_sync();
  const int tiles = run.block_tiles();
  // Main loop
  if (threadIdx.x >= C::threads) {
    if (threadIdx.x == C::threads) produce_multicast<C>(run, tiles, shared);
    __syncwarp();
  } else {
    MulticastPipeline<C> pipeline{shared};
    for (int n = 0; n < tiles; ++n) {
      pipeline.consumer_wait();
      count_tile<C>(counters, pipeline);
      pipeline.consumer_release();
      counters.counted_tile(run, n);
    }
    count_rest<Keys, C>(run, counters);
  }
  // Epilogue
  __syncwarp();
  dsm::cluster_sync();  // shared memory must outlive what the neighbours send
  if (threadIdx.x < C::threads) counters.add_to_result(run);
}

/// "512x2/merge-2", and the producer warps where others have none.
template <class SCHEDULE, int PRODUCERS = 0, int L2_AHEAD = 0, Way WAY = Way::merge>
ConfigOf<Problem> merge_config(int cluster) {
  using C = KernelConfig<SCHEDULE, Ring<SCHEDULE, PRODUCERS, L2_AHEAD>>;
  const auto kernels =
      kernels_of<C, false>([](auto keys) { return merging<decltype(keys), C, WAY>; });
  return clustered<C>(WAY, cluster, kernels, sizeof(BulkStorage<C>), bytes_in_flight<C>);
}

/// A message is a block's share of a tile.
template <class SCHEDULE>
ConfigOf<Problem> multicast_config(int cluster) {
  using C = KernelConfig<SCHEDULE, Ring<SCHEDULE, 1>>;
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
      original<4>(dsm_original<Bytes, 4>, dsm_original<Words, 4>, 1, 0, original_cluster,
                  Start::dependent),
      merge_config<One1024>(2),
      merge_config<Two512>(2),
      merge_config<Two512, 1>(2),
      merge_config<Two512, 1, ring_l2_ahead>(2),
      merge_config<Two512, 1, 0, Way::merge_bulk>(2),
      merge_config<Four512>(2),
      merge_config<Packed, 1>(2),
      merge_config<Packed, 1, ring_l2_ahead>(2),
      merge_config<Unseen, 1>(2),
      multicast_config<Packed>(2)};
  for (const int cluster : {1, 2, 4, 8, 16}) all.push_back(spread_config<One1024>(cluster));
  for (const int cluster : {1, 2, 4, 8, 16}) all.push_back(spread_config<Two512>(cluster));
  return all;
}

constexpr const char* through_global =
    "it brings keys to the block that keeps their counter through global memory, which is what a "
    "cluster does by multicast or remote increments, in one launch (packed, 1024x1)";

const bool registered = register_variant<Problem>(
    "histogram", Strategy::dsm, configs(),
    {{Global::name,
      "with all counters in global memory each key is read once, by one block, and nothing is left "
      "that the blocks of a cluster could share"},
     {Partitioned::name, through_global},
     {PartitionedDependent::name, through_global}});

}  // namespace
}  // namespace amasia::histogram
