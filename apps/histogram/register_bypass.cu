// histogram/register_bypass: a tile of keys goes global -> shared by cp.async, the block waits for
// it at once, then counts it (Svedin et al., Algorithm 1). Other blocks of the SM hide the wait.
// The keys are used once by the thread that asked for them, so the stop in shared memory saves
// nothing but registers. There is one stage and no producer warp: a tile that travels while another
// is counted is what overlap does.
#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"
#include "apps/histogram/partition.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::histogram {
namespace {

template <class Keys, int STEP>
__global__ void __launch_bounds__(original_threads) bypass_original(OriginalRun run) {
  // Prologue
  auto* const tile = block_memory<unsigned>();              // (step_tile_words)
  unsigned* const counters = tile + step_tile_words<STEP>;  // (warps, counters)
  admit_successor();
  clear_warp_counters(counters, run);
  __syncthreads();
  const WarpCounters<Keys> own(counters, run);
  const int tiles = run.tiles<Keys, STEP>();
  const int slot = STEP / 4 * static_cast<int>(threadIdx.x);
  // Main loop
  for (int n = 0; n < tiles; ++n) {
    async::copy<STEP>(tile + slot, run.tile<STEP>(n) + slot);
    async::commit();
    async::wait<0>();
    __syncthreads();
    own.template add_tile<STEP>(tile);
    __syncthreads();  // all have read the tile
  }
  // Epilogue
  own.template add_rest<STEP>(run);
  __syncthreads();
  write_partial(counters, run);
}

template <class CONFIG, class Source>
struct Pipeline {
  using C = CONFIG;
  static_assert(C::stages == 1 && C::producer_warps == 0);
  struct Storage {
    alignas(16) uint4 tile[C::tile_chunks];
  };
  const Source& source;
  Storage& shared;
  int tiles;

  __device__ void produce(int n) {
    const uint4* from = source.template tile<C>(n) + threadIdx.x;
#pragma unroll
    for (int c = 0; c < C::chunks; ++c) {
      async::copy<16>(shared.tile + c * C::threads + threadIdx.x, from + c * C::threads);
    }
    async::commit();
  }
  __device__ void consumer_wait() {
    async::wait<0>();
    __syncthreads();
  }
  __device__ void prologue() {}
  /// Before tile n is counted.
  __device__ void next(int n) {
    produce(n);
    consumer_wait();
  }
  __device__ uint4 chunk(int c) const { return shared.tile[c * C::threads + threadIdx.x]; }
  __device__ void consumer_release() { __syncthreads(); }
};

const bool registered = register_variant<Problem>(
    "histogram", Strategy::register_bypass,
    {original<4>(bypass_original<Bytes, 4>, bypass_original<Words, 4>, 1, 1),
     original<16>(bypass_original<Bytes, 16>, bypass_original<Words, 16>, 1, 1),
     original<4>(bypass_original<Bytes, 4>, bypass_original<Words, 4>, 1, 1, 1, Start::dependent),
     walking<Pipeline, One1024, OneStage<One1024>>(), walking<Pipeline, Two512, OneStage<Two512>>(),
     walking<Pipeline, Two512, OneStage<Two512, stage_l2_ahead>>(),
     walking<Pipeline, Four512, OneStage<Four512>>(), walking<Pipeline, Packed, OneStage<Packed>>(),
     walking<Pipeline, Packed, OneStage<Packed, stage_l2_ahead>>(),
     walking<Pipeline, Unseen, OneStage<Unseen>>(), partitioned<Pipeline, 1>(),
     partitioned<Pipeline, 1, PartitionedDependent>(),
     walking<Pipeline, Global, OneStage<Global>>()});

}  // namespace
}  // namespace amasia::histogram
