// Rodinia's computation on a tile in shared memory, and its launches: what the schedules iso and
// iso-walk are for every strategy.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apps/hotspot/geometry.hpp"
#include "apps/hotspot/kernel.cuh"
#include "apps/hotspot/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {

/// Arguments of one launch: 1 or 2 steps.
struct PyramidView {
  Grid<const float> temperature;
  Grid<const float> power;
  Grid<float> result;
  Coefficients coefficients;
  int steps;
  int across, down;    // tiles of the grid
  int first_tile_row;  // of this launch; iso alone
};

/// iso: the one tile of a block. BLOCKS blocks work on a tile (dsm: a cluster) and finish COLUMNS
/// of its columns.
template <int BLOCKS = 1, int COLUMNS = core>
struct OneTile {
  static constexpr bool walks = false;
  static constexpr int blocks = BLOCKS, columns = COLUMNS;
  static constexpr std::string_view schedule = iso_name;
  TileOrigin at;
  bool over = false;

  __device__ explicit OneTile(const PyramidView& v)
      : at(pyramid_origin(v.first_tile_row + std::int64_t{blockIdx.y}, blockIdx.x / BLOCKS,
                          COLUMNS)) {}
  __device__ TileOrigin origin() const { return at; }
  __device__ bool done() const { return over; }
  __device__ void next() { over = true; }
};

/// iso-walk: tile after tile.
template <int BLOCKS = 1, int COLUMNS = core>
struct Walk {
  static constexpr bool walks = true;
  static constexpr int blocks = BLOCKS, columns = COLUMNS;
  static constexpr std::string_view schedule = iso_walk_name;
  TileWalk tile;

  __device__ explicit Walk(const PyramidView& v)
      : tile(static_cast<int>(blockIdx.x / BLOCKS), static_cast<int>(gridDim.x / BLOCKS), v.across,
             v.down) {}
  __device__ TileOrigin origin() const { return pyramid_origin(tile.row, tile.column, COLUMNS); }
  __device__ bool done() const { return tile.done(); }
  __device__ void next() { tile.next(); }
};

/// Where the thread's cell of the tile at `origin` lies in the grids, which have one pitch.
struct OwnCell {
  std::int64_t offset = 0;  // a mapped address outside the grid, too
  bool inside;

  __device__ OwnCell(const PyramidView& v, TileOrigin origin) {
    const TileCell cell(origin, threadIdx.x, v.result.rows, v.result.columns);
    inside = cell.inside;
    if (inside) offset = cell.row * v.result.pitch + cell.column;
  }
  /// Zero outside the grid.
  __device__ float load(const Grid<const float>& grid) const {
    return inside ? grid.data[offset] : 0;
  }
};

/// The copies by cp.async of the thread's own cell of the tile that `tiles` stand at, 4 bytes for
/// each grid. Strategies differ in where they copy to and when they wait. Past the last tile, and
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

/// Advances the tile and returns the thread's cell. `tile` holds the temperatures, visible to the
/// block; source() is asked once the first step has read its neighbours. On return other threads
/// may still be reading the tile.
template <class Source>
__device__ float climb(float* tile, const TileCell& cell, int steps, const Coefficients& k,
                       const Source& source_of_cell) {
  float* own = tile + cell.index;
  const bool even = is_even(cell.row, cell.column);
  const int beside_north = even ? cell.west : cell.east,
            beside_south = even ? cell.east : cell.west;
  float value = *own;
  float north = own[cell.north], south = own[cell.south];
  float with_north = own[beside_north], with_south = own[beside_south];
  const float source = source_of_cell();
  static_assert(pyramid_height == 2, "one step or two");
  return by_isotropy(k, [&](auto isotropic) {
    value = advance<isotropic.value>(value, north, south, with_north, with_south, source, k);
    if (steps == 1) return value;
    __syncthreads();  // everybody has read the old row before anybody overwrites it
    *own = value;
    __syncthreads();
    return advance<isotropic.value>(value, own[cell.north], own[cell.south], own[beside_north],
                                    own[beside_south], source, k);
  });
}

/// The config of Tiles::schedule by `kernel`: a launch per pyramid_height steps. `enqueue` makes
/// the launch of a view and a shape.
template <class Tiles, class Enqueue>
ConfigOf<Problem> pyramid(const void* kernel, int stages, std::size_t bytes_in_flight,
                          const Enqueue& enqueue) {
  ConfigOf<Problem> config;
  config.info.schedule = config.info.name = std::string(Tiles::schedule);
  config.info.geometry = {
      {"tile", tile_size}, {"steps_per_pass", pyramid_height}, {"threads", tile_threads}};
  if (Tiles::blocks > 1) config.info.geometry.push_back({"cluster_blocks", Tiles::blocks});
  config.info.movement = {{"stages", stages}, {"stage_rows", tile_size}, {"producer_warps", 0}};
  config.info.kernels = {{kernel, tile_threads, 0, Tiles::blocks, bytes_in_flight}};
  config.prepare = [kernel, enqueue](const Problem& problem, const Device& device) {
    const std::int64_t across = ceil_div(problem.result.columns, Tiles::columns);
    const std::int64_t down = ceil_div(problem.result.rows, core);
    LaunchShape shape{dim3(1), dim3(tile_threads)};
    shape.cluster_blocks = Tiles::blocks;
    std::vector<TileRows> bands = bands_of(down);
    if (Tiles::walks) {
      bands.resize(1);
      const std::int64_t walkers =
          std::max(1, resident_blocks(kernel, shape, device.sm_count) / Tiles::blocks);
      shape.grid.x = static_cast<unsigned>(std::min(across * down, walkers) * Tiles::blocks);
    } else {
      shape.grid.x = static_cast<unsigned>(across * Tiles::blocks);
    }
    std::vector<int> steps(problem.steps / pyramid_height, pyramid_height);
    if (problem.steps % pyramid_height != 0) steps.push_back(problem.steps % pyramid_height);
    std::vector<Launch> launches;
    for (const Pass& pass : ping_pong(problem, steps)) {
      for (const TileRows& band : bands) {
        if (!Tiles::walks) shape.grid.y = static_cast<unsigned>(band.count);
        launches.push_back(enqueue(
            PyramidView{pass.source, problem.power, pass.destination, problem.coefficients,
                        pass.steps, static_cast<int>(across), static_cast<int>(down), band.first},
            shape));
      }
    }
    return [launches = std::move(launches)](Stream stream) {
      for (const Launch& one : launches) one(stream);
    };
  };
  return config;
}

/// The same for a kernel that takes the view and nothing else.
template <class Tiles>
ConfigOf<Problem> pyramid(void (*kernel)(PyramidView), int stages, std::size_t bytes_in_flight) {
  return pyramid<Tiles>(reinterpret_cast<const void*>(kernel), stages, bytes_in_flight,
                        [kernel](const PyramidView& view, const LaunchShape& shape) -> Launch {
                          return [=](Stream stream) { launch(kernel, shape, stream, view); };
                        });
}

}  // namespace amasia::hotspot
