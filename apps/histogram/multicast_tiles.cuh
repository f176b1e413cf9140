// Tiles of keys that every block of a cluster gets: each block fetches its share of a tile once and
// the copy engine delivers it to all (dsm). Keys go to the bins instead of increments.
#pragma once

#include "apps/histogram/counting.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::histogram {

/// Stages that a cluster fills together, in front of the counters, and their barriers.
template <class C>
struct MulticastStorage {
  alignas(128) uint4 tiles[C::stages][C::tile_chunks];
  tma::Barrier full[C::stages];   // the whole tile's bytes, from all blocks
  tma::Barrier empty[C::stages];  // one arrival per warp of the cluster that has read the tile
};

/// By all threads; follow with a cluster barrier.
template <class C>
__device__ void init_barriers(MulticastStorage<C>& shared) {
  if (threadIdx.x != 0) return;
  for (int s = 0; s < C::stages; ++s) {
    tma::init(&shared.full[s], 1);
    tma::init(&shared.empty[s], C::warps * dsm::size());
  }
  tma::fence_init();
}

/// A tile takes up a stage in every block of the cluster while it travels, so a cluster has C times
/// fewer bytes on their way than as many single blocks. The way is shorter from L2: tiles are
/// fetched to there this many tiles ahead.
constexpr int tiles_to_l2 = 12;

/// One thread: asks for this block's share of each tile once every block has read what was there.
template <class C>
__device__ void produce_multicast(const Run& run, int tiles, MulticastStorage<C>& shared) {
  const unsigned blocks = dsm::size();
  const int share = C::tile_chunks / static_cast<int>(blocks);
  const int first = static_cast<int>(dsm::rank()) * share;
  const unsigned bytes = 16 * static_cast<unsigned>(share);
  PipelineState<C::stages> state;
  for (int n = 0; n < tiles; ++n, ++state) {
    if (n + tiles_to_l2 < tiles) {
      tma::prefetch_bytes(run.tile<C>(n + tiles_to_l2) + first, bytes);
    }
    if (n >= C::stages) tma::wait(&shared.empty[state.index], state.phase ^ 1);
    tma::expect(&shared.full[state.index], C::tile_bytes);
    dsm::load_bytes_multicast(shared.tiles[state.index] + first, run.tile<C>(n) + first, bytes,
                              &shared.full[state.index],
                              static_cast<std::uint16_t>((1u << blocks) - 1));
  }
}

/// What the counting warps see of it.
template <class C>
struct MulticastPipeline {
  MulticastStorage<C>& shared;
  PipelineState<C::stages> state{};

  __device__ void consumer_wait() { tma::wait(&shared.full[state.index], state.phase); }
  __device__ uint4 chunk(int c) const {
    return shared.tiles[state.index][c * C::threads + threadIdx.x];
  }
  /// Lane r tells block r that the warp has read the tile.
  __device__ void consumer_release() {
    __syncwarp();
    const unsigned lane = threadIdx.x % 32;
    if (lane < dsm::size()) {
      dsm::arrive_read(dsm::remote_address(&shared.empty[state.index], lane));
    }
    ++state;
  }
};

}  // namespace amasia::histogram
