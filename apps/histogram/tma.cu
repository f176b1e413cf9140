// histogram/tma: tiles of keys by 1-D bulk copies into a ring (bulk_tiles.cuh), and the block's
// counts added to the result by one bulk reduction: the copy engine adds 16 bytes at a time, where
// the other strategies issue an atomic addition per counter.
#include "apps/histogram/bulk_tiles.cuh"
#include "apps/histogram/original.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::histogram {
namespace {

template <class Keys>
__global__ void __launch_bounds__(original_threads) tma_original(OriginalRun run) {
  extern __shared__ __align__(128) unsigned memory[];
  __shared__ tma::Barrier full[original_stages];
  unsigned* const ring = memory;  // (stages, original_tile_words)
  unsigned* const counters = ring + original_stages * original_tile_words;  // (warps, counters)
  const int tiles = run.tiles<Keys>();
  const auto ask = [&](int n) {
    if (threadIdx.x != 0 || n >= tiles) return;
    tma::Barrier* barrier = &full[n % original_stages];
    tma::expect(barrier, original_tile_bytes);
    tma::load_bytes(ring + n % original_stages * original_tile_words, run.tile(n),
                    original_tile_bytes, barrier);
  };
  if (threadIdx.x == 0) {
    for (tma::Barrier& barrier : full) tma::init(&barrier, 1);
    tma::fence_init();
  }
  clear_warp_counters(counters, run);
  __syncthreads();
  ask(0);
  const WarpCounters<Keys> own(counters, run);
  for (int n = 0; n < tiles; ++n) {
    ask(n + 1);
    const auto slot = ring_slot<original_stages>(n);
    tma::wait(&full[slot.stage], slot.parity);
    own.add_tile(ring + slot.stage * original_tile_words);
    __syncthreads();  // all have read the tile
  }
  own.add_rest(run);
  __syncthreads();
  write_partial(counters, run);
}

template <class Keys, class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) bulk(Run run) {
  extern __shared__ __align__(128) uint4 ring[];
  __shared__ RingBarriers<S> barriers;
  auto* counters = reinterpret_cast<unsigned*>(ring + S::stages * S::tile_chunks);
  BulkTiles<S> mover{run, ring, barriers};
  clear_counters(counters, run.plan, S::threads);
  mover.prepare();
  count_tiles<Keys, S>(run, mover, counters);
  __syncthreads();

  // Merge: gather the copies, sort values into bins, hand over
  gather_copies<S>(counters, run.plan);
  __syncthreads();
  const unsigned* sums = counters;
  int size = run.window_counters();
  if constexpr (Keys::per_word > 1) {
    unsigned* const bins =
        counters + byte_values;  // where copies lay: values always have 4 or more
    size = static_cast<int>(run.binning.bins) + 1;
    for (int i = threadIdx.x; i < byte_values + 4; i += S::threads) bins[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < byte_values; i += S::threads) {
      atomicAdd(bins + Keys::bin_of_counter(i, run.binning), counters[i]);
    }
    sums = bins;
  }
  tma::fence_async_proxy();
  __syncthreads();
  if (threadIdx.x == 0 && size > 0) {
    // Whole 16-byte pieces: what lies behind the last counter is zero.
    const auto bytes = static_cast<unsigned>(16 * ceil_div(size, 4));
    tma::add_bytes(run.counts + (Keys::per_word > 1 ? 0 : run.first_counter()), sums, bytes);
    tma::commit_stores();
    tma::wait_stores<0>();
  }
}

template <class S>
ConfigOf<Problem> config(const char* name) {
  return counting<S>(name, {bulk<Bytes, S>, bulk<Words, S>, bulk<Sliced<Words>, S>},
                     S::stages * S::tile_bytes, (S::stages - 1) * S::tile_bytes);
}

//    threads, chunks, stages, blocks per SM
const bool registered =
    register_variant<Problem>("histogram", Strategy::tma,
                              {original(tma_original<Bytes>, tma_original<Words>,
                                        original_stages* original_tile_bytes, original_tile_bytes),
                               config<Shape<1024, 1, 3, 2>>("1024-threads-twice-3-stages"),
                               config<Shape<1024, 1, 5, 1>>("1024-threads-5-stages"),
                               config<Shape<512, 1, 5, 2>>("512-threads-twice-5-stages")});

}  // namespace
}  // namespace amasia::histogram
