// A tile that slides down the rows of a grid, as persistent kernels use it: what chunk_of() works
// out anew for every tile is the same for all of them but for the row, so each thread keeps its
// chunks' offsets in registers and a copy costs one addition.
#pragma once

#include "variants/async.cuh"
#include "variants/baseline.cuh"
#include "variants/tile.cuh"

namespace amasia {

/// The chunks of one of THREADS threads in tiles of TileT whose first column is `column` (a
/// multiple of the chunk). Chunks outside the grid are read from its nearest chunk instead: unlike
/// copy_tile, which fills with zero, the computation must ignore them. Rows beyond the grid repeat
/// its last row.
template <class TileT, int THREADS>
struct SlidingChunks {
  static constexpr int count = (TileT::chunks + THREADS - 1) / THREADS;
  std::int64_t offset[count];  // elements from the first cell of the tile's first row

  template <class T>
  __device__ SlidingChunks(const Grid<const T>& grid, std::int64_t column, int thread) {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const int i = thread + k * THREADS;
      offset[k] = i / TileT::chunks_per_row * grid.pitch +
                  readable_column(grid, column + i % TileT::chunks_per_row * TileT::chunk_elements);
    }
  }

  template <class T>
  __device__ static std::int64_t readable_column(const Grid<const T>& grid, std::int64_t column) {
    const std::int64_t last = grid.pitch - TileT::chunk_elements;
    return column < 0 ? 0 : column > last ? last : column;
  }

  /// Is there a k-th chunk? False only in the last, partial round of the threads.
  __device__ static bool exists(int k, int thread) {
    return (k + 1) * THREADS <= TileT::chunks || thread + k * THREADS < TileT::chunks;
  }

  /// Global address of the k-th chunk of the tile whose first row is `row`.
  template <class T>
  __device__ const T* source(const Grid<const T>& grid, std::int64_t row, int k, int thread) const {
    if (row + TileT::rows <= grid.rows) return grid.data + row * grid.pitch + offset[k];
    const int r = (thread + k * THREADS) / TileT::chunks_per_row;
    const std::int64_t beyond = row + r - (grid.rows - 1);
    return grid.data + (row - (beyond > 0 ? beyond : 0)) * grid.pitch + offset[k];
  }

  /// Starts copies by cp.async; follow with async::commit().
  template <class T>
  __device__ void copy_async(T* shared, const Grid<const T>& grid, std::int64_t row,
                             int thread) const {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (exists(k, thread)) {
        async::copy<TileT::chunk_bytes>(shared + (thread + k * THREADS) * TileT::chunk_elements,
                                        source(grid, row, k, thread));
      }
    }
  }

  using Vector = typename baseline::Vector<TileT::chunk_bytes>::type;

  /// Loads the chunks into registers ...
  template <class T>
  __device__ void load(Vector (&held)[count], const Grid<const T>& grid, std::int64_t row,
                       int thread) const {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (exists(k, thread)) {
        held[k] = __ldg(reinterpret_cast<const Vector*>(source(grid, row, k, thread)));
      }
    }
  }
  /// ... and stores them to shared memory.
  template <class T>
  __device__ static void store(T* shared, const Vector (&held)[count], int thread) {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (exists(k, thread)) reinterpret_cast<Vector*>(shared)[thread + k * THREADS] = held[k];
    }
  }
};

}  // namespace amasia
