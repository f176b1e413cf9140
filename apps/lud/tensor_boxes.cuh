// Slices of split panels by boxes (tma, dsm): the filling warpgroup's first thread names them. Of a
// cluster's two blocks, one below the other, each brings half of every slice of U to both.
#pragma once

#include "apps/lud/tensor_update.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::lud {
namespace {

template <int CLUSTER>
struct TensorBoxes : ForOneBlock {
  struct View {
    CUtensorMap left[2], right[2];
  };
  static constexpr int cluster = CLUSTER, registers = 40, arrivals = 1;
  static constexpr int right_rows = TensorTile::rows / cluster;  // that a block brings
  static constexpr std::size_t bytes_in_flight =
      std::size_t{TensorStages::count} * TensorTile::slice_bytes;
  static constexpr std::uint16_t everyone = (1 << cluster) - 1;

  static View view(const Problem& p) {
    const auto map = [](const Grid<float>& g, int rows) {
      return tensor_map(Grid<const float>{g.data, g.rows, g.columns, g.pitch}, rows, TensorTile::k,
                        Swizzle::bytes128);
    };
    return {{map(p.left[0], TensorTile::rows), map(p.left[1], TensorTile::rows)},
            {map(p.right[0], right_rows), map(p.right[1], right_rows)}};
  }
  static __device__ void enter() {
    if constexpr (cluster > 1) {
      dsm::cluster_sync();
    } else {
      ForOneBlock::enter();
    }
  }
  static __device__ __forceinline__ void produce(const TensorStages& stages, const View& maps,
                                                 const Problem&, const PlaceInParts& place) {
    if (threadIdx.x != 0) return;
    const CUtensorMap* const of_left = maps.left + place.room;
    const CUtensorMap* const of_right = maps.right + place.room;
    TensorStages::State state;
#pragma unroll 1
    for (int slice = 0; slice < place.slices; ++slice, ++state) {
      const int column = slice * TensorTile::k;
      stages.acquire(state);
      tma::Barrier* const full = stages.full(state);
      unsigned char* const left = stages.at(state);
      unsigned char* const right = left + TensorTile::Slice::a_bytes;
      tma::expect(full, TensorTile::slice_bytes);  // all of U, whoever sends it
      tma::load_tile(left, of_left, column, place.left_row, full);
      if constexpr (cluster > 1) {
        const int rank = static_cast<int>(dsm::rank());
        tma::load_tile_multicast(right + rank * right_rows * 128, of_right, column,
                                 place.right_row + rank * right_rows, full, everyone);
      } else {
        tma::load_tile(right, of_right, column, place.right_row, full);
      }
    }
  }
  /// Half of U came from the other block, which waits for these warps as well.
  static __device__ void release(tma::Barrier* empty) {
    if constexpr (cluster > 1) {
      __syncwarp();
      if (threadIdx.x % 32 < cluster) {
        dsm::arrive_read(dsm::remote_address(empty, threadIdx.x % 32));
      }
    } else {
      ForOneBlock::release(empty);
    }
  }
  static __device__ void leave() {
    if constexpr (cluster > 1) dsm::cluster_sync();  // while its barriers are arrived at
  }
};

}  // namespace
}  // namespace amasia::lud
