// The copies of a thread's own two cells by cp.async in iso and iso-walk: one of 4 bytes for each
// grid, at the place of the tile where baseline stores what it has loaded. Of register_bypass,
// overlap and drop_off, which differ in where they copy to and when they wait.
#pragma once

#include "apps/hotspot/pyramid.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {

/// The copies of the thread's cell of the tile that `tiles` stand at. Past the last tile, and
/// outside the grid, a copy reads nothing and writes zero.
class OwnCopies {
 public:
  template <class Tiles>
  __device__ OwnCopies(const PyramidView& v, const Tiles& tiles)
      : cell_(v, tiles.origin()), bytes_(cell_.inside && !tiles.done() ? sizeof(float) : 0) {}
  /// Starts the copy from `grid` to `place` in shared memory; commit() is the caller's.
  __device__ void copy(float* place, const Grid<const float>& grid) const {
    async::copy<4>(place, grid.data + cell_.offset, bytes_);
  }

 private:
  OwnCell cell_;
  int bytes_;
};

}  // namespace amasia::hotspot
