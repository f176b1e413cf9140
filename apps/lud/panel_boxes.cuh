// Whole tiles of panels by bulk copies: boxes of 32 x 32, an mbarrier per step. Of a cluster's
// blocks, which have the same triangle, each brings every second square of it, multicast to all.
#pragma once

#include "apps/lud/box_ring.cuh"
#include "apps/lud/panel.cuh"
#include "variants/ptx/cluster_begin.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::lud {
namespace {

template <int CLUSTER>
struct PanelBoxes {
  using Tile = PanelTile;
  using View = BlockedMaps;
  static constexpr int cluster = CLUSTER;
  struct SharedStorage {
    unsigned char squares[Tile::all_bytes];
    tma::Barrier full[Tile::steps];
  };
  static constexpr std::size_t shared_bytes = sizeof(SharedStorage);
  static constexpr std::size_t bytes_in_flight = Tile::all_bytes;
  static constexpr std::uint16_t everyone = (1 << cluster) - 1;

  static View view(const Problem& p) {
    return blocked_maps(p, warp_edge, warp_edge, warp_edge, warp_edge);
  }

  SharedStorage& storage;
  const BlockedMaps& maps;
  const TileProduct& t;

  // All copies are started at once, in the order of their use; each warp names every fourth box.
  __device__ PanelBoxes(unsigned char* shared, const View& view, const Problem&,
                        const TileProduct& tile, int thread)
      : storage(*reinterpret_cast<SharedStorage*>(shared)), maps(view), t(tile) {
    if (thread == 0) {
      for (tma::Barrier& full : storage.full) tma::init(&full, 1);
      tma::fence_init();
    }
    if constexpr (cluster > 1) {
      dsm::cluster_arrive_initialised();
      dsm::cluster_wait();
    } else {
      __syncthreads();
    }
    if (thread % 32 != 0) return;
#pragma unroll 1
    for (int step = 0; step < Tile::steps; ++step) {
      if (thread == 0) {
        tma::expect(storage.full + step,
                    static_cast<unsigned>(Tile::squares(step) * Tile::square_bytes));
      }
#pragma unroll 1
      for (int i = thread / 32; i < Tile::squares(step); i += Tile::warps) load(step, i);
    }
  }
  __device__ void load(int step, int i) const {
    const PanelSquare from = Tile::square(t, step, i);
    unsigned char* const to = storage.squares + Tile::place(step, i);
    const CUtensorMap* const map = from.source == Source::matrix  ? &maps.a
                                   : from.source == Source::lower ? &maps.lower
                                                                  : &maps.upper;
    if constexpr (cluster > 1) {
      if (i < Tile::triangles(step)) {
        if (i % cluster != static_cast<int>(dsm::rank())) return;
        tma::load_tile_multicast(to, map, from.column, from.row, storage.full + step, everyone);
        return;
      }
    }
    tma::load_tile(to, map, from.column, from.row, storage.full + step);
  }

  __device__ void wait(int step) const { tma::wait(storage.full + step, 0); }
  __device__ void store(int step) const {
    tma::fence_async_proxy();
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const PanelSquare to = Tile::x(t, step, warp);
    tma::store_tile(&maps.a, to.column, to.row, storage.squares + Tile::place_of_x(step, warp));
    tma::commit_stores();
  }
  __device__ void finish() const {
    if (threadIdx.x % 32 == 0) tma::wait_stores_read<0>();  // shared memory must outlive the copies
    // Nobody leaves while boxes that it sends to its neighbours are on their way.
    if constexpr (cluster > 1) {
      __syncwarp();
      dsm::cluster_arrive_initialised();
      dsm::cluster_wait();
    }
  }
};

}  // namespace
}  // namespace amasia::lud
