// histogram/overlap: a ring of key tiles per block; while one is counted, cp.async fetches the next
// ones (Svedin et al., Algorithm 2). One block barrier per tile makes the oldest stage visible and
// proves that the one before it has been read.
#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::histogram {
namespace {

template <class Keys>
__global__ void __launch_bounds__(original_threads) overlap_original(OriginalRun run) {
  extern __shared__ __align__(16) unsigned memory[];
  unsigned* const ring = memory;  // (stages, original_tile_words)
  unsigned* const counters = ring + original_stages * original_tile_words;  // (warps, counters)
  const int tiles = run.tiles<Keys>();
  const auto fetch = [&](int n) {
    if (n < tiles) {
      async::copy<16>(ring + n % original_stages * original_tile_words + 4 * threadIdx.x,
                      run.tile(n) + 4 * threadIdx.x);
    }
    async::commit();  // an empty group past the last tile keeps the count right
  };
  fetch(0);
  clear_warp_counters(counters, run);
  __syncthreads();
  const WarpCounters<Keys> own(counters, run);
  for (int n = 0; n < tiles; ++n) {
    async::wait<0>();
    __syncthreads();
    fetch(n + 1);
    own.add_tile(ring + n % original_stages * original_tile_words);
  }
  own.add_rest(run);
  __syncthreads();
  write_partial(counters, run);
}

template <class S>
struct Ring {
  const Run& run;
  uint4* tiles;  // (stages, chunks, threads)
  int count = 0;
  int stage = 0;

  __device__ void fetch(int n, int into) {
    if (n < count) {
      const uint4* from = run.tile<S>(n) + threadIdx.x;
#pragma unroll
      for (int c = 0; c < S::chunks; ++c) {
        async::copy<16>(tiles + into * S::tile_chunks + c * S::threads + threadIdx.x,
                        from + c * S::threads);
      }
    }
    async::commit();  // an empty group past the last tile keeps the count right
  }
  __device__ void begin(int all) {
    count = all;
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) fetch(n, n);
  }
  __device__ void acquire(int n) {
    async::wait<S::stages - 2>();
    __syncthreads();
    fetch(n + S::stages - 1, stage == 0 ? S::stages - 1 : stage - 1);
  }
  __device__ uint4 chunk(int c) const {
    return tiles[stage * S::tile_chunks + c * S::threads + threadIdx.x];
  }
  __device__ void release(int) { stage = stage == S::stages - 1 ? 0 : stage + 1; }
};

template <class Keys, class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) overlap(Run run) {
  extern __shared__ __align__(16) uint4 ring[];
  auto* counters = reinterpret_cast<unsigned*>(ring + S::stages * S::tile_chunks);
  clear_counters(counters, run.plan, S::threads);
  __syncthreads();
  Ring<S> mover{run, ring};
  count_tiles<Keys, S>(run, mover, counters);
  async::wait<0>();
  __syncthreads();
  add_to_result<Keys, S>(run, counters);
}

template <class S>
ConfigOf<Problem> config(const char* name) {
  return counting<S>(name, {overlap<Bytes, S>, overlap<Words, S>, overlap<Sliced<Words>, S>},
                     S::stages * S::tile_bytes, (S::stages - 1) * S::tile_bytes);
}

//    threads, chunks, stages, blocks per SM
const bool registered =
    register_variant<Problem>("histogram", Strategy::overlap,
                              {original(overlap_original<Bytes>, overlap_original<Words>,
                                        original_stages* original_tile_bytes, original_tile_bytes),
                               config<Shape<1024, 1, 3, 2>>("1024-threads-twice-3-stages"),
                               config<Shape<1024, 1, 5, 1>>("1024-threads-5-stages"),
                               config<Shape<512, 1, 5, 2>>("512-threads-twice-5-stages")});

}  // namespace
}  // namespace amasia::histogram
