// baseline: global -> register -> shared, block barrier. The copy every later strategy replaces.
#pragma once

#include "variants/geometry/tile.hpp"

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
