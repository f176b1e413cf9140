// What only one thread of iso's second kernel reads, copied into slots of its own: register_bypass,
// overlap and drop_off.
#pragma once

#include "apps/srad/iso.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::srad {

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
