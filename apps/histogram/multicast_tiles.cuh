// Tiles of keys that every block of a cluster gets: each block fetches its share of a tile once and
// the copy engine delivers it to all (dsm). Keys go to the bins instead of increments.
#pragma once

#include "apps/histogram/bulk_tiles.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::histogram {

/// Barriers of a ring that a cluster fills together.
template <class S>
struct ClusterBarriers {
  tma::Barrier full[S::stages];   // the whole tile's bytes, from all blocks
  tma::Barrier read[S::stages];   // one arrival per warp of this block that has read the tile
  tma::Barrier empty[S::stages];  // one arrival per block of the cluster whose warps all have
};

/// By all threads; follow with a cluster barrier.
template <class S>
__device__ void init_barriers(ClusterBarriers<S>& barriers) {
  if (threadIdx.x != 0) return;
  for (int s = 0; s < S::stages; ++s) {
    tma::init(&barriers.full[s], 1);
    tma::init(&barriers.read[s], S::warps);
    tma::init(&barriers.empty[s], dsm::size());
  }
  tma::fence_init();
}

/// A tile takes up a stage in every block of the cluster while it travels, so a cluster has C times
/// fewer bytes on their way than as many single blocks. The way is shorter from L2: tiles are
/// fetched to there this many tiles ahead.
constexpr int tiles_to_l2 = 12;

/// Warps besides the counting ones: one asks for tiles, one passes on what has been read. Done by
/// one warp in turns, every tile would wait for a message from the other blocks before the next
/// message could leave: about 1 us a tile, however many stages there are (measured).
constexpr int helper_warps = 2;

/// Lane r tells block r of each tile that this block's warps have read.
template <class S>
__device__ void report_read(int tiles, ClusterBarriers<S>& barriers) {
  const unsigned lane = threadIdx.x % 32;
  for (int n = 0; n + S::stages < tiles; ++n) {
    const auto slot = ring_slot<S::stages>(n);
    tma::wait(&barriers.read[slot.stage], slot.parity);
    if (lane < dsm::size()) {
      dsm::arrive_remote(dsm::remote_address(&barriers.empty[slot.stage], lane));
    }
    __syncwarp();
  }
}

/// One thread: asks for this block's share of each tile once every block has read what was there.
template <class S>
__device__ void ask_multicast(const Run& run, int tiles, uint4* ring,
                              ClusterBarriers<S>& barriers) {
  const unsigned blocks = dsm::size();
  const int share = S::tile_chunks / static_cast<int>(blocks);
  const int first = static_cast<int>(dsm::rank()) * share;
  const unsigned bytes = 16 * static_cast<unsigned>(share);
  for (int n = 0; n < tiles; ++n) {
    const auto slot = ring_slot<S::stages>(n);
    if (n + tiles_to_l2 < tiles) {
      tma::prefetch_bytes(run.tile<S>(n + tiles_to_l2) + first, bytes);
    }
    if (n >= S::stages) dsm::wait_cluster(&barriers.empty[slot.stage], slot.parity ^ 1);
    tma::expect(&barriers.full[slot.stage], S::tile_bytes);
    dsm::load_bytes_multicast(ring + slot.stage * S::tile_chunks + first, run.tile<S>(n) + first,
                              bytes, &barriers.full[slot.stage],
                              static_cast<std::uint16_t>((1u << blocks) - 1));
  }
}

/// What the counting warps see of it.
template <class S>
struct MulticastTiles {
  uint4* ring;  // (stages, chunks, threads)
  ClusterBarriers<S>& barriers;
  int stage = 0;
  unsigned parity = 0;

  __device__ void begin(int) {}
  __device__ void acquire(int) { tma::wait(&barriers.full[stage], parity); }
  __device__ uint4 chunk(int c) const {
    return ring[stage * S::tile_chunks + c * S::threads + threadIdx.x];
  }
  __device__ void release(int) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(&barriers.read[stage]);
    if (++stage == S::stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace amasia::histogram
