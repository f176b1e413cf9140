// histogram/drop_off: each thread has slots of its own, its next keys in flight, and waits for its
// own copies alone (Svedin et al., Algorithm 3). Nothing suits a histogram better: no thread reads
// another's keys, so the ring needs no barrier at all.
#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::histogram {
namespace {

template <class Keys>
__global__ void __launch_bounds__(original_threads) drop_off_original(OriginalRun run) {
  extern __shared__ __align__(16) uint4 slots[];  // (stages, threads), then counters
  auto* counters = reinterpret_cast<unsigned*>(slots + original_stages * original_threads);
  const int tiles = run.tiles<Keys>();
  const auto fetch = [&](int n) {
    if (n < tiles) {
      async::copy<16>(slots + n % original_stages * original_threads + threadIdx.x,
                      run.tile(n) + 4 * threadIdx.x);
    }
    async::commit();
  };
  fetch(0);
  clear_warp_counters(counters, run);
  __syncthreads();
  const WarpCounters<Keys> own(counters, run);
  for (int n = 0; n < tiles; ++n) {
    fetch(n + 1);
    async::wait<1>();
    own.add_chunk(slots[n % original_stages * original_threads + threadIdx.x]);
  }
  own.add_rest(run);
  __syncthreads();
  write_partial(counters, run);
}

template <class S>
struct Slots {
  const Run& run;
  uint4* ring;  // (stages, chunks, threads)
  int count = 0;
  int stage = 0;

  __device__ void fetch(int n, int into) {
    if (n < count) {
      const uint4* from = run.tile<S>(n) + threadIdx.x;
#pragma unroll
      for (int c = 0; c < S::chunks; ++c) {
        async::copy<16>(ring + into * S::tile_chunks + c * S::threads + threadIdx.x,
                        from + c * S::threads);
      }
    }
    async::commit();
  }
  __device__ void begin(int all) {
    count = all;
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) fetch(n, n);
  }
  __device__ void acquire(int n) {
    fetch(n + S::stages - 1, stage == 0 ? S::stages - 1 : stage - 1);
    async::wait<S::stages - 1>();  // this thread's own keys, nobody else's
  }
  __device__ uint4 chunk(int c) const {
    return ring[stage * S::tile_chunks + c * S::threads + threadIdx.x];
  }
  __device__ void release(int) { stage = stage == S::stages - 1 ? 0 : stage + 1; }
};

template <class Keys, class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) drop_off(Run run) {
  extern __shared__ __align__(16) uint4 ring[];
  auto* counters = reinterpret_cast<unsigned*>(ring + S::stages * S::tile_chunks);
  clear_counters(counters, run.plan, S::threads);
  __syncthreads();
  Slots<S> mover{run, ring};
  count_tiles<Keys, S>(run, mover, counters);
  __syncthreads();
  add_to_result<Keys, S>(run, counters);
}

template <class S>
ConfigOf<Problem> config(const char* name) {
  return counting<S>(name, {drop_off<Bytes, S>, drop_off<Words, S>, drop_off<Sliced<Words>, S>},
                     S::stages * S::tile_bytes, (S::stages - 1) * S::tile_bytes);
}

//    threads, chunks, stages, blocks per SM
const bool registered =
    register_variant<Problem>("histogram", Strategy::drop_off,
                              {original(drop_off_original<Bytes>, drop_off_original<Words>,
                                        original_stages* original_tile_bytes, original_tile_bytes),
                               config<Shape<1024, 1, 3, 2>>("1024-threads-twice-3-slots"),
                               config<Shape<1024, 1, 5, 1>>("1024-threads-5-slots"),
                               config<Shape<512, 1, 5, 2>>("512-threads-twice-5-slots")});

}  // namespace
}  // namespace amasia::histogram
