// iso by cp.async: the first kernel of register_bypass and overlap, for which a block's only tile
// is the same thing; and slots for the values of the second kernel that one thread reads alone.
#pragma once

#include "apps/srad/iso.cuh"
#include "variants/copies/tile.cuh"

namespace amasia::srad {

template <int THREADS>
__global__ void __launch_bounds__(THREADS) copied_coefficients(IsoView v) {
  __shared__ alignas(16) float pixels[PixelTile::elements];  // (18, 24)
  const Cell cell(v);
  async::copy_tile<PixelTile, THREADS>(pixels, v.source, cell.pixels(), threadIdx.x);
  async::commit();
  async::wait<0>();
  __syncthreads();
  coefficient_of(v, cell, pixels).store(v, cell);
}

struct OwnCells {
  float slot[5][tile_threads];
  /// Starts the copies of a thread whose cell is inside; 0 for the others.
  __device__ void copy(const IsoView& v, const Cell& cell) {
    const Grid<const float> grids[] = {readable(v.north), readable(v.south), readable(v.west),
                                       readable(v.east), v.source};
#pragma unroll
    for (int i = 0; i < 5; ++i) {
      const Grid<const float>& g = grids[i];
      async::copy<4>(&slot[i][threadIdx.x],
                     g.data + (cell.inside ? cell.row * g.pitch + cell.column : 0),
                     cell.inside ? 4 : 0);
    }
  }
  __device__ Gradient gradient() const {
    return {slot[0][threadIdx.x], slot[1][threadIdx.x], slot[2][threadIdx.x], slot[3][threadIdx.x]};
  }
  __device__ float pixel() const { return slot[4][threadIdx.x]; }
};

}  // namespace amasia::srad
