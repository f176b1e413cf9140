// Tiles of keys that every block of a cluster gets: each block fetches its share of a tile once and
// the copy engine delivers it to all (dsm). Keys go to the bins instead of increments.
#pragma once

#include "apps/histogram/bulk_tiles.cuh"
#include "variants/remote_atomics.cuh"

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

/// What the copying warp does all the time. Lane r tells block r that this one's warps are done
/// with a stage; lane 0 waits until every block has said so and asks for this block's share of a
/// tile.
template <class S>
__device__ void produce_multicast(const Run& run, int tiles, uint4* ring,
                                  ClusterBarriers<S>& barriers) {
  const unsigned lane = threadIdx.x % 32, blocks = dsm::size();
  const int share = S::tile_chunks / static_cast<int>(blocks);
  const int first = static_cast<int>(dsm::rank()) * share;
  int stage = 0;
  unsigned parity = 1;  // of the pass before
  for (int n = 0; n < tiles; ++n) {
    if (n >= S::stages) {
      tma::wait(&barriers.read[stage], parity);
      if (lane < blocks) dsm::arrive_remote(dsm::remote_address(&barriers.empty[stage], lane));
      if (lane == 0) dsm::wait_cluster(&barriers.empty[stage], parity);
    }
    if (lane == 0) {
      tma::expect(&barriers.full[stage], S::tile_bytes);
      dsm::load_bytes_multicast(ring + stage * S::tile_chunks + first, run.tile<S>(n) + first,
                                16 * static_cast<unsigned>(share), &barriers.full[stage],
                                static_cast<std::uint16_t>((1u << blocks) - 1));
    }
    __syncwarp();
    if (++stage == S::stages) {
      stage = 0;
      parity ^= 1;
    }
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
