// The copy of a tile without a register on the way: register_bypass, overlap and drop_off.
#pragma once

#include "variants/geometry/tile.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::async {

/// Starts the copy of a tile with THREADS threads. Follow with commit() (overlap) or wait<0>().
template <class TileT, int THREADS, class T>
__device__ void copy_tile(T* shared, const Grid<const T>& grid, TileOrigin origin, int thread) {
#pragma unroll
  for (int i = thread; i < TileT::chunks; i += THREADS) {
    const Chunk c = chunk_of<TileT>(i, grid, origin);
    // A chunk outside the grid reads nothing (valid = 0) but still needs a mapped address.
    copy<TileT::chunk_bytes>(shared + c.tile_offset, grid.data + (c.inside > 0 ? c.grid_offset : 0),
                             c.inside * static_cast<int>(sizeof(T)));
  }
}

}  // namespace amasia::async
