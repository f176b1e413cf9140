// histogram/register_bypass: a tile of keys goes global -> shared by cp.async, the block waits for
// it at once, then counts it (Svedin et al., Algorithm 1). Other blocks of the SM hide the wait.
// The keys are used once by the thread that asked for them, so the stop in shared memory saves
// nothing but registers.
#include "apps/histogram/counting.cuh"
#include "apps/histogram/original.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::histogram {
namespace {

template <class Keys>
__global__ void __launch_bounds__(original_threads) bypass_original(OriginalRun run) {
  extern __shared__ __align__(16) unsigned memory[];
  unsigned* const tile = memory;                          // (original_tile_words)
  unsigned* const counters = tile + original_tile_words;  // (warps, counters)
  clear_warp_counters(counters, run);
  __syncthreads();
  const WarpCounters<Keys> own(counters, run);
  const int tiles = run.tiles<Keys>();
  for (int n = 0; n < tiles; ++n) {
    async::copy<16>(tile + 4 * threadIdx.x, run.tile(n) + 4 * threadIdx.x);
    async::commit();
    async::wait<0>();
    __syncthreads();
    own.add_tile(tile);
    __syncthreads();  // all have read the tile
  }
  own.add_rest(run);
  __syncthreads();
  write_partial(counters, run);
}

template <class S>
struct OneTile {
  const Run& run;
  uint4* tile;  // (chunks, threads)

  __device__ void begin(int) {}
  __device__ void acquire(int n) {
    const uint4* from = run.tile<S>(n) + threadIdx.x;
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) {
      async::copy<16>(tile + c * S::threads + threadIdx.x, from + c * S::threads);
    }
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
  __device__ uint4 chunk(int c) const { return tile[c * S::threads + threadIdx.x]; }
  __device__ void release(int) { __syncthreads(); }
};

template <class Keys, class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) bypass(Run run) {
  extern __shared__ __align__(16) uint4 tile[];
  auto* counters = reinterpret_cast<unsigned*>(tile + S::tile_chunks);
  clear_counters(counters, run.plan, S::threads);
  __syncthreads();
  OneTile<S> mover{run, tile};
  count_tiles<Keys, S>(run, mover, counters);
  __syncthreads();
  add_to_result<Keys, S>(run, counters);
}

template <class S>
ConfigOf<Problem> config(const char* name) {
  return counting<S>(name, {bypass<Bytes, S>, bypass<Words, S>, bypass<Sliced<Words>, S>},
                     S::tile_bytes, S::tile_bytes);
}

//    threads, chunks, stages, blocks per SM
const bool registered =
    register_variant<Problem>("histogram", Strategy::register_bypass,
                              {original(bypass_original<Bytes>, bypass_original<Words>,
                                        original_tile_bytes, original_tile_bytes),
                               config<Shape<512, 2, 1, 4>>("512-threads-4-blocks"),
                               config<Shape<1024, 2, 1, 2>>("1024-threads-2-blocks"),
                               config<Shape<1024, 4, 1, 1>>("1024-threads-1-block")});

}  // namespace
}  // namespace amasia::histogram
