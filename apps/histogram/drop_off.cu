// histogram/drop_off: each thread has slots of its own, its next keys in flight, and waits for its
// own copies alone (Svedin et al., Algorithm 3). Nothing suits a histogram better: no thread reads
// another's keys, so the ring needs no barrier at all. Producer warps would end that: what another
// thread has copied is seen after a barrier only.
#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"
#include "apps/histogram/partition.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::histogram {
namespace {

// iso: as published, one copy in flight while the one before is counted.
template <class Keys, int STEP>
__global__ void __launch_bounds__(original_threads) drop_off_original(OriginalRun run) {
  auto* const slots = block_memory<unsigned>();  // (stages, threads, step)
  unsigned* const counters = slots + original_stages * step_tile_words<STEP>;  // (warps, counters)
  const int tiles = run.tiles<Keys, STEP>();
  const int own_words = STEP / 4 * static_cast<int>(threadIdx.x);
  const auto slot = [&](int n) {
    return slots + n % original_stages * step_tile_words<STEP> + own_words;
  };
  const auto produce = [&](int n) {
    if (n < tiles) async::copy<STEP>(slot(n), run.tile<STEP>(n) + own_words);
    async::commit();
  };
  // Prologue
  admit_successor();
  produce(0);
  clear_warp_counters(counters, run);
  __syncthreads();
  const WarpCounters<Keys> own(counters, run);
  // Main loop
  for (int n = 0; n < tiles; ++n) {
    produce(n + 1);
    async::wait<1>();
    own.template add_slot<STEP>(slot(n));
  }
  // Epilogue
  own.template add_rest<STEP>(run);
  __syncthreads();
  write_partial(counters, run);
}

template <class CONFIG, class Source>
struct Pipeline {
  using C = CONFIG;
  static_assert(C::producer_warps == 0);
  struct Storage {
    alignas(16) uint4 slots[C::stages][C::chunks][C::threads];
  };
  const Source& source;
  Storage& shared;
  int tiles;
  PipelineState<C::stages> state{};

  /// The thread's part of tile n into its slot `index`.
  __device__ void produce(int n, int index) {
    if (n < tiles) {
      const uint4* from = source.template tile<C>(n) + threadIdx.x;
#pragma unroll
      for (int c = 0; c < C::chunks; ++c) {
        async::copy<16>(&shared.slots[index][c][threadIdx.x], from + c * C::threads);
      }
    }
    async::commit();  // an empty group past the last tile keeps the count right
  }
  /// This thread's own keys, nobody else's.
  __device__ void consumer_wait() { async::wait<C::stages - 1>(); }
  __device__ void prologue() {
#pragma unroll
    for (int n = 0; n < C::stages - 1; ++n) produce(n, n);
  }
  /// Before tile n is counted. The slot that this thread has read last is free.
  __device__ void next(int n) {
    produce(n + C::stages - 1, state.before().index);
    consumer_wait();
  }
  __device__ uint4 chunk(int c) const { return shared.slots[state.index][c][threadIdx.x]; }
  __device__ void consumer_release() { ++state; }
};

const bool registered = register_variant<Problem>(
    "histogram", Strategy::drop_off,
    {original<4>(drop_off_original<Bytes, 4>, drop_off_original<Words, 4>, original_stages,
                 original_stages),
     original<16>(drop_off_original<Bytes, 16>, drop_off_original<Words, 16>, original_stages,
                  original_stages),
     original<4>(drop_off_original<Bytes, 4>, drop_off_original<Words, 4>, original_stages,
                 original_stages, 1, Start::dependent),
     walking<Pipeline, One1024, Ring<One1024>>(), walking<Pipeline, Two512, Ring<Two512>>(),
     walking<Pipeline, Two512, Ring<Two512, 0, ring_l2_ahead>>(),
     walking<Pipeline, Four512, Ring<Four512>>(), walking<Pipeline, Packed, ShortRing<Packed>>(),
     walking<Pipeline, Packed, ShortRing<Packed, ring_l2_ahead>>(),
     walking<Pipeline, Unseen, ShortRing<Unseen>>(), partitioned<Pipeline, 3>(),
     partitioned<Pipeline, 3, PartitionedDependent>(), walking<Pipeline, Global, Ring<Global>>()});

}  // namespace
}  // namespace amasia::histogram
