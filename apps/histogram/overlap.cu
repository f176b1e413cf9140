// histogram/overlap: a ring of key tiles per block; while one is counted, cp.async fetches the next
// ones (Svedin et al., Algorithm 2, corrected: docs/papers.md). One block barrier per tile makes
// the oldest stage visible and proves that the one before it has been read. With producer warps,
// those alone copy, and a barrier per stage and direction takes the place of the block's
// (producer_warps.cuh).
#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"
#include "apps/histogram/partition.cuh"
#include "apps/histogram/producer_warps.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::histogram {
namespace {

template <class Keys, int STEP>
__global__ void __launch_bounds__(original_threads) overlap_original(OriginalRun run) {
  auto* const ring = block_memory<unsigned>();  // (stages, step_tile_words)
  unsigned* const counters = ring + original_stages * step_tile_words<STEP>;  // (warps, counters)
  const int tiles = run.tiles<Keys, STEP>();
  const int slot = STEP / 4 * static_cast<int>(threadIdx.x);
  const auto produce = [&](int n) {
    if (n < tiles) {
      async::copy<STEP>(ring + n % original_stages * step_tile_words<STEP> + slot,
                        run.tile<STEP>(n) + slot);
    }
    async::commit();  // an empty group past the last tile keeps the count right
  };
  // Prologue
  admit_successor();
  produce(0);
  clear_warp_counters(counters, run);
  __syncthreads();
  const WarpCounters<Keys> own(counters, run);
  // Main loop
  for (int n = 0; n < tiles; ++n) {
    async::wait<0>();
    __syncthreads();
    produce(n + 1);
    own.template add_tile<STEP>(ring + n % original_stages * step_tile_words<STEP>);
  }
  // Epilogue
  own.template add_rest<STEP>(run);
  __syncthreads();
  write_partial(counters, run);
}

template <class CONFIG, class Source>
struct Pipeline {
  using C = CONFIG;
  using Storage = StageStorage<C>;
  const Source& source;
  Storage& shared;
  int tiles;
  PipelineState<C::stages> state{};

  /// Tile n into stage `index`.
  __device__ void produce(int n, int index) {
    if (n < tiles) {
      const uint4* from = source.template tile<C>(n) + threadIdx.x;
#pragma unroll
      for (int c = 0; c < C::chunks; ++c) {
        async::copy<16>(shared.tiles[index] + c * C::threads + threadIdx.x, from + c * C::threads);
      }
    }
    async::commit();  // an empty group past the last tile keeps the count right
  }
  __device__ void consumer_wait() {
    async::wait<C::stages - 2>();
    __syncthreads();
  }
  __device__ void prologue() {
#pragma unroll
    for (int n = 0; n < C::stages - 1; ++n) produce(n, n);
  }
  /// Before tile n is counted. The barrier of the wait proves that the tile before it has been
  /// read, too, and its stage is free.
  __device__ void next(int n) {
    consumer_wait();
    produce(n + C::stages - 1, state.before().index);
  }
  __device__ uint4 chunk(int c) const {
    return shared.tiles[state.index][c * C::threads + threadIdx.x];
  }
  __device__ void consumer_release() { ++state; }
};

const bool registered = register_variant<Problem>(
    "histogram", Strategy::overlap,
    {original<4>(overlap_original<Bytes, 4>, overlap_original<Words, 4>, original_stages,
                 original_stages),
     original<16>(overlap_original<Bytes, 16>, overlap_original<Words, 16>, original_stages,
                  original_stages),
     original<4>(overlap_original<Bytes, 4>, overlap_original<Words, 4>, original_stages,
                 original_stages, 1, Start::dependent),
     walking<Pipeline, One1024, Ring<One1024>>(), walking<Pipeline, Two512, Ring<Two512>>(),
     walking<Pipeline, Two512, Ring<Two512, 0, ring_l2_ahead>>(),
     producing<Two512, Ring<Two512, 4>>(), walking<Pipeline, Four512, Ring<Four512>>(),
     walking<Pipeline, Packed, ShortRing<Packed>>(),
     walking<Pipeline, Packed, ShortRing<Packed, ring_l2_ahead>>(),
     walking<Pipeline, Unseen, ShortRing<Unseen>>(), partitioned<Pipeline, 3>(),
     partitioned<Pipeline, 3, PartitionedDependent>(), walking<Pipeline, Global, Ring<Global>>()});

}  // namespace
}  // namespace amasia::histogram
