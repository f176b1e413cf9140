// The kernels of dsm at iso and iso-walk. Eight blocks side by side need the same tile: the
// diagonal one, or L's of their row. Each fetches an eighth of it and sends that to all of them, 16
// bytes a message, into their shared memory, where an mbarrier counts what has come. Nothing is
// read from a block, so that no barrier of the cluster follows; it would be a fence over all of the
// device's memory, for each warp.
#pragma once

#include "apps/lud/rodinia.cuh"
#include "variants/copies/tile.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::lud {
namespace {

inline constexpr int tile_cluster = 8;  // the portable maximum

struct ReceivedTile {
  alignas(16) float elements[tile_elements];
  tma::Barrier full;  // counts their bytes

  /// By all threads of the cluster, before share(): a cluster's blocks need not start together, and
  /// what is done in between overlaps the wait.
  __device__ void begin() {
    if (threadIdx.x == 0) {
      tma::init(&full, 1);
      tma::fence_init();
    }
    dsm::cluster_arrive_initialised();
  }
  /// Fetches this block's eighth and sends it to the first RECEIVERS blocks of the cluster.
  template <int RECEIVERS>
  __device__ void share(const RodiniaStep& s, TileOrigin from, int thread, int threads) {
    constexpr int eighth = RodiniaTile::chunks / tile_cluster;
    const int e = static_cast<int>(dsm::rank()) * eighth + thread % eighth;
    int4 chunk{};
    if (thread < RECEIVERS * eighth) chunk = load_chunk(s, from, e);
    dsm::cluster_wait();
    for (int to = thread / eighth; to < RECEIVERS; to += threads / eighth) {
      const auto block = static_cast<unsigned>(to);
      dsm::store_async(dsm::remote_address(elements + 4 * e, block), chunk,
                       dsm::remote_address(&full, block));
    }
  }
  /// Until all eighths have come, by all threads of a block. Nobody sends to a block that has left,
  /// if it has waited.
  __device__ void wait() {
    if (threadIdx.x == 0) tma::expect(&full, RodiniaTile::bytes);
    tma::wait(&full, 0);
  }
};

__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ ReceivedTile own;
  const int lane = threadIdx.x;
  own.begin();
  own.share<1>(s, {s.first, s.first}, lane, 32);
  if (dsm::rank() != 0) return;
  own.wait();
  factor_tile(own.elements, s.size(), lane);
  __syncwarp();
  store_rows(s, {s.first, s.first}, own.elements, lane, 32);
}

__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s, int side) {
  __shared__ ReceivedTile diagonal_tile;
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  diagonal_tile.begin();
  baseline::copy_tile<RodiniaTile, 32>(beside, s.source(), s.beside(i), lane);
  baseline::copy_tile<RodiniaTile, 32>(below, s.source(), s.below(i), lane);
  diagonal_tile.share<tile_cluster>(s, {s.first, s.first}, lane, 32);
  diagonal_tile.wait();
  if (i >= side) return;
  __syncwarp();
  solve_perimeter(diagonal_tile.elements, beside, below, lane);
  __syncwarp();
  store_rows(s, s.beside(i), beside, lane, 32);
  store_rows(s, s.below(i), below, lane, 32);
}

// U's tiles as in baseline.
template <class Schedule>
__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  constexpr bool walks = Schedule::tiles > 1;
  __shared__ ReceivedTile below;
  __shared__ alignas(16) float beside[tile_elements];
  const int thread = threadIdx.x;
  const RowOfTiles<Schedule> tiles(s);

  // Prologue
  below.begin();
  // The first threads bring the share, those behind them U's tile.
  const int chunk = thread ^ RodiniaTile::chunks;
  HeldTile held(s, tiles.begin, s.side(), chunk);
  below.share<tile_cluster>(s, s.below(static_cast<int>(blockIdx.y)), thread, internal_threads);
  held.store(beside, chunk);
  below.wait();

  // Main loop
  const int row = thread / tile, column = thread % tile;
  const std::int64_t r = s.next() + std::int64_t{blockIdx.y} * tile + row;
  for (int i = tiles.begin; i < tiles.end; ++i) {
    if (walks) {
      if (i > tiles.begin) held.store(beside, chunk);
      held = HeldTile(s, i + 1, tiles.end, chunk);
    }
    __syncthreads();
    const std::int64_t c = s.next() + std::int64_t{i} * tile + column;
    if (r < s.m.rows && c < s.m.columns) {
      s.m.at(r, c) -= inner_product(below.elements, beside, row, column);
    }
    if (walks) __syncthreads();  // the tile has been read
  }
}

/// The config, whose launches are of whole clusters.
template <class Schedule>
ConfigOf<Problem> rodinia_in_clusters() {
  const auto internal = rodinia_internal<Schedule>;
  ConfigOf<Problem> config;
  config.info = rodinia_info<Schedule>(
      1, {{reinterpret_cast<const void*>(internal), internal_threads, 0, tile_cluster,
           RodiniaTile::bytes + RodiniaTile::bytes / tile_cluster},
          {reinterpret_cast<const void*>(rodinia_perimeter), 32, 0, tile_cluster},
          {reinterpret_cast<const void*>(rodinia_diagonal), 32, 0, tile_cluster}});
  config.info.geometry.push_back({"cluster_blocks", tile_cluster});
  config.prepare = [=](const Problem& p, const Device&) -> Launch {
    const auto whole = [](unsigned blocks) {
      return static_cast<unsigned>(round_up(blocks, tile_cluster));
    };
    return rodinia(
        p,
        [](const RodiniaStep& s, Stream stream) {
          launch(rodinia_diagonal, LaunchShape{dim3(tile_cluster), dim3(32), 0, tile_cluster},
                 stream, s);
        },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          launch(rodinia_perimeter, LaunchShape{dim3(whole(side)), dim3(32), 0, tile_cluster},
                 stream, s, static_cast<int>(side));
        },
        [=](const RodiniaStep& s, unsigned side, Stream stream) {
          const dim3 grid = internal_grid<Schedule>(side);
          launch(internal,
                 LaunchShape{dim3(whole(grid.x), side), dim3(internal_threads), 0, tile_cluster},
                 stream, s);
        });
  };
  return config;
}

}  // namespace
}  // namespace amasia::lud
