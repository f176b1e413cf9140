// The copy of a tile. baseline: global -> register -> shared, which every later strategy replaces.
// async: without a register on the way, for register_bypass, overlap and drop_off.
#pragma once

#include "variants/geometry/tile.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::baseline {

template <int BYTES>
struct Vector;
template <>
struct Vector<16> {
  using type = int4;
};
template <>
struct Vector<8> {
  using type = int2;
};
template <>
struct Vector<4> {
  using type = int;
};

/// Loads a tile with THREADS threads; `shared` is valid after the next __syncthreads(). All of a
/// thread's loads are issued before its first store, so one latency is paid per tile, not per
/// chunk.
template <class TileT, int THREADS, class T>
__device__ void copy_tile(T* shared, const Grid<const T>& grid, TileOrigin origin, int thread) {
  using V = typename Vector<TileT::chunk_bytes>::type;
  constexpr int per_thread = (TileT::chunks + THREADS - 1) / THREADS;
  V held[per_thread];
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const int i = thread + k * THREADS;
    held[k] = V{};
    if (i < TileT::chunks) {
      const Chunk c = chunk_of<TileT>(i, grid, origin);
      // The padding behind a row's last element belongs to the input: a partial chunk is readable.
      if (c.inside > 0) held[k] = *reinterpret_cast<const V*>(grid.data + c.grid_offset);
    }
  }
#pragma unroll
  for (int k = 0; k < per_thread; ++k) {
    const int i = thread + k * THREADS;
    if (i < TileT::chunks) {
      const int offset = i / TileT::chunks_per_row * TileT::columns +
                         i % TileT::chunks_per_row * TileT::chunk_elements;
      *reinterpret_cast<V*>(shared + offset) = held[k];
    }
  }
}

}  // namespace amasia::baseline

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
