// histogram/tma: tiles of keys by 1-D bulk copies into a ring (bulk_tiles.cuh). The block's counts
// are added to the result by one bulk reduction, 16 bytes at a time, where the other strategies
// issue an atomic addition per counter. Counters of 16 bits are the exception: the engine adds
// words.
#include "apps/histogram/bulk_tiles.cuh"
#include "apps/histogram/original.cuh"
#include "apps/histogram/partition.cuh"

namespace amasia::histogram {
namespace {

template <class Keys, int STEP>
__global__ void __launch_bounds__(original_threads) tma_original(OriginalRun run) {
  __shared__ tma::Barrier full[original_stages];
  auto* const ring = block_memory<unsigned>();  // (stages, step_tile_words)
  unsigned* const counters = ring + original_stages * step_tile_words<STEP>;  // (warps, counters)
  const int tiles = run.tiles<Keys, STEP>();
  const auto produce = [&](int n) {
    if (threadIdx.x != 0 || n >= tiles) return;
    tma::Barrier* barrier = &full[n % original_stages];
    tma::expect(barrier, step_tile_bytes<STEP>);
    tma::load_bytes(ring + n % original_stages * step_tile_words<STEP>, run.tile<STEP>(n),
                    step_tile_bytes<STEP>, barrier);
  };
  // Prologue
  admit_successor();
  if (threadIdx.x == 0) {
    for (tma::Barrier& barrier : full) tma::init(&barrier, 1);
    tma::fence_init();
  }
  clear_warp_counters(counters, run);
  __syncthreads();
  produce(0);
  const WarpCounters<Keys> own(counters, run);
  PipelineState<original_stages> state;
  // Main loop
  for (int n = 0; n < tiles; ++n, ++state) {
    produce(n + 1);
    tma::wait(&full[state.index], state.phase);
    own.template add_tile<STEP>(ring + state.index * step_tile_words<STEP>);
    __syncthreads();  // all have read the tile
  }
  // Epilogue
  own.template add_rest<STEP>(run);
  __syncthreads();
  write_partial(counters, run);
}

/// Gathers the copies, sorts values into bins, and hands over. `bins` is room for 260 words,
/// in stages that nothing is copied into any more. By all threads, after a barrier.
template <class Keys, class C>
__device__ void reduce_into_result(const Run& run, unsigned* counters, unsigned* bins) {
  gather_copies<C>(counters, run.plan);
  __syncthreads();
  const unsigned* sums = counters;
  int size = run.counters;
  if constexpr (Keys::per_word > 1) {
    size = static_cast<int>(run.binning.bins) + 1;
    for (int i = threadIdx.x; i < byte_values + 4; i += C::launched_threads) bins[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < byte_values; i += C::launched_threads) {
      atomicAdd(bins + Keys::bin_of_counter(i, run.binning), counters[i]);
    }
    sums = bins;
  }
  tma::fence_async_proxy();
  __syncthreads();
  if (threadIdx.x == 0 && size > 0) {
    // Whole 16-byte pieces: what lies behind the last counter is zero.
    const auto bytes = static_cast<unsigned>(16 * ceil_div(size, 4));
    tma::add_bytes(run.counts, sums, bytes);
    tma::commit_stores();
    tma::wait_stores<0>();
  }
}

template <class Keys, class C>
__global__ void __launch_bounds__(C::launched_threads, C::blocks_per_sm) bulk(Run run) {
  auto& shared = *block_memory<BulkStorage<C>>();
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(&shared + 1);
  Counters<Keys, C> counters(run, words);
  BulkPipeline<C, Run> pipeline{run, shared, run.block_tiles()};
  clear_counters<C>(words, run.plan);
  pipeline.prologue();
  // Main loop
  count_bulk_tiles<Keys, C>(run, pipeline, counters);
  // Epilogue
  __syncthreads();
  if constexpr (C::home == Home::copies) {
    reduce_into_result<Keys, C>(run, words, reinterpret_cast<unsigned*>(shared.tiles));
  } else if (threadIdx.x < C::threads) {
    counters.add_to_result(run);
  }
}

template <class SCHEDULE, class MOVEMENT>
ConfigOf<Problem> config() {
  using C = KernelConfig<SCHEDULE, MOVEMENT>;
  return counting<C>(kernels_of<C>([](auto keys) { return bulk<decltype(keys), C>; }),
                     sizeof(BulkStorage<C>), bytes_in_flight<C>);
}

const bool registered = register_variant<Problem>(
    "histogram", Strategy::tma,
    {original<4>(tma_original<Bytes, 4>, tma_original<Words, 4>, original_stages, original_stages),
     original<16>(tma_original<Bytes, 16>, tma_original<Words, 16>, original_stages,
                  original_stages),
     original<4>(tma_original<Bytes, 4>, tma_original<Words, 4>, original_stages, original_stages,
                 1, Start::dependent),
     config<One1024, Ring<One1024>>(), config<Two512, Ring<Two512>>(),
     config<Two512, Ring<Two512, 1>>(), config<Two512, Ring<Two512, 1, ring_l2_ahead>>(),
     config<Four512, Ring<Four512>>(), config<Packed, Ring<Packed, 1>>(),
     config<Packed, Ring<Packed, 1, ring_l2_ahead>>(), config<Unseen, Ring<Unseen, 1>>(),
     config<Unseen, ShortRing<Unseen>>(), partitioned<BulkPipeline, 3>(),
     partitioned<BulkPipeline, 3, PartitionedDependent>(), config<Global, Ring<Global>>()});

}  // namespace
}  // namespace amasia::histogram
