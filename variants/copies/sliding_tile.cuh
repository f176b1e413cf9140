// A tile that slides down the rows of a grid, as persistent kernels use it. The result of
// chunk_of() differs between tiles only by the row. So each thread keeps its chunks' offsets in
// registers, and a copy costs one addition.
#pragma once

#include "variants/copies/tile.cuh"
#include "variants/geometry/tile.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia {

/// The 16-byte chunks of one of THREADS threads in a tile that starts at (row, column) of a grid
/// and moves down by its own height with every copy. `column` is a multiple of 16 bytes. Unlike
/// copy_tile, which fills with zero, a chunk outside the grid is read from its nearest chunk
/// instead: the computation must ignore it. Rows beyond the grid repeat its last row.
template <class TileT, int THREADS>
struct SlidingTile {
  static_assert(TileT::chunk_bytes == 16);
  using T = typename TileT::Element;
  static constexpr int count = (TileT::chunks + THREADS - 1) / THREADS;

  const T* top;  // row `row`, column 0
  std::int64_t pitch;
  int rows_left;  // from `row` to the end of the grid
  int thread;
  std::int64_t offset[count];  // elements from `top`

  __device__ SlidingTile(const Grid<const T>& grid, TileOrigin origin, int thread_)
      : top(grid.data + origin.row * grid.pitch),
        pitch(grid.pitch),
        rows_left(static_cast<int>(grid.rows - origin.row)),
        thread(thread_) {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const int i = thread + k * THREADS;
      const std::int64_t column = origin.column + i % TileT::chunks_per_row * TileT::chunk_elements;
      const std::int64_t last = grid.pitch - TileT::chunk_elements;
      offset[k] = i / TileT::chunks_per_row * pitch + (column < 0      ? 0
                                                       : column > last ? last
                                                                       : column);
    }
  }

  /// copy(k, source) for each of the thread's chunks; then one tile down.
  template <class Copy>
  __device__ void each(Copy copy) {
    if (rows_left >= TileT::rows) {
#pragma unroll
      for (int k = 0; k < count; ++k) {
        if (exists(k)) copy(k, top + offset[k]);
      }
    } else {
#pragma unroll
      for (int k = 0; k < count; ++k) {
        const int beyond = (thread + k * THREADS) / TileT::chunks_per_row - (rows_left - 1);
        if (exists(k)) copy(k, top + offset[k] - (beyond > 0 ? beyond * pitch : 0));
      }
    }
    top += TileT::rows * pitch;
    rows_left -= TileT::rows;
  }

  /// Starts copies to the tile at a 32-bit shared address; follow with async::commit().
  __device__ void copy_async(unsigned shared) {
    const unsigned first = shared + 16 * thread;
    each([&](int k, const T* source) { async::copy16(first + 16 * k * THREADS, source); });
  }

  using Vector = baseline::Vector<16>::type;

  /// Loads the chunks into registers ...
  __device__ void load(Vector (&held)[count]) {
    each([&](int k, const T* source) { held[k] = __ldg(reinterpret_cast<const Vector*>(source)); });
  }
  /// ... and stores them to shared memory.
  __device__ void store(T* shared, const Vector (&held)[count]) const {
#pragma unroll
    for (int k = 0; k < count; ++k) {
      if (exists(k)) reinterpret_cast<Vector*>(shared)[thread + k * THREADS] = held[k];
    }
  }

 private:
  /// Is there a k-th chunk? False only in the last, partial round of the threads.
  __device__ bool exists(int k) const {
    return (k + 1) * THREADS <= TileT::chunks || thread + k * THREADS < TileT::chunks;
  }
};

}  // namespace amasia
