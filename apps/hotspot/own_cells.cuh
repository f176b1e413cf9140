// The copies of a thread's own two cells by cp.async in iso and iso-walk: one of 4 bytes for each
// grid, at the place of the tile where baseline stores what it has loaded. Of register_bypass,
// overlap and drop_off, which differ in where they copy to and when they wait.
#pragma once

#include "apps/hotspot/pyramid.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {

/// The thread's cell of the tile that `tiles` stand at. Past the last tile, and outside the grid, a
/// copy reads nothing and writes zero.
class OwnCell {
 public:
  template <class Tiles>
  __device__ OwnCell(const PyramidView& v, const Tiles& tiles) {
    if (tiles.done()) return;
    const TileCell cell(tiles.origin(), threadIdx.x, v.result.rows, v.result.columns);
    if (cell.row < 0 || cell.row >= v.result.rows || cell.column < 0 ||
        cell.column >= v.result.columns) {
      return;
    }
    offset_ = cell.row * v.result.pitch + cell.column;
    bytes_ = sizeof(float);
  }
  /// Starts the copy from `grid` to `place` in shared memory; commit() is the caller's.
  __device__ void copy(float* place, const Grid<const float>& grid) const {
    async::copy<4>(place, grid.data + offset_, bytes_);
  }

 private:
  std::int64_t offset_ = 0;  // a mapped address where nothing is read, too
  int bytes_ = 0;
};

}  // namespace amasia::hotspot
