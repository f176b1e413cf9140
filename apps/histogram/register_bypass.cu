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

template <class Keys, class C>
__global__ void __launch_bounds__(C::threads, C::blocks_per_sm) bypass(Run run) {
  auto& shared = *block_memory<typename Pipeline<C, Run>::Storage>();
  // Prologue
  auto* const words = reinterpret_cast<unsigned*>(&shared + 1);
  const Counters<Keys, C> counters(run, words);
  clear_counters<C>(words, run.plan);
  __syncthreads();
  Pipeline<C, Run> pipeline{run, shared, run.block_tiles()};
  pipeline.prologue();
  // Main loop
  for (int n = 0; n < pipeline.tiles; ++n) {
    pipeline.next(n);
    count_tile<C>(counters, pipeline);
    pipeline.consumer_release();
    counters.counted_tile(n);
  }
  // Epilogue
  count_rest<Keys, C>(run, counters);
  __syncthreads();
  counters.add_to_result(run);
}

template <class SCHEDULE, class MOVEMENT>
ConfigOf<Problem> config() {
  using C = KernelConfig<SCHEDULE, MOVEMENT>;
  return counting<C>(kernels_of<C>([](auto keys) { return bypass<decltype(keys), C>; }),
                     sizeof(typename Pipeline<C, Run>::Storage), C::tile_bytes);
}

const bool registered = register_variant<Problem>(
    "histogram", Strategy::register_bypass,
    {original<4>(bypass_original<Bytes, 4>, bypass_original<Words, 4>, 1, 1),
     original<16>(bypass_original<Bytes, 16>, bypass_original<Words, 16>, 1, 1),
     config<Four512, Movement<1, 2>>(), config<Four512, Movement<1, 1>>(),
     config<Two1024, Movement<1, 2>>(), config<Two1024, Movement<1, 1>>(),
     config<One1024, Movement<1, 4>>(), config<One1024, Movement<1, 2>>(),
     config<Two512, Movement<1, 4>>(), config<Two512, Movement<1, 2>>(),
     config<Packed, Movement<1, 2>>(), config<Packed, Movement<1, 4>>(),
     config<Ranges, Movement<1, 4>>(), config<Ranges, Movement<1, 2>>(), partitioned<Pipeline, 1>(),
     config<Global, Movement<1, 2>>()});

}  // namespace
}  // namespace amasia::histogram
