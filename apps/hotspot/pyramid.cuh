// Rodinia's computation on a tile in shared memory, common to all `iso` configs.
#pragma once

#include "apps/hotspot/kernel.cuh"
#include "apps/hotspot/pyramid.hpp"
#include "apps/hotspot/schedule.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::hotspot {

/// Arguments of one launch: 1 or 2 steps.
struct PyramidView {
  Grid<const float> temperature;
  Grid<const float> power;
  Grid<float> result;
  Coefficients coefficients;
  int steps;
};

/// Advances the tile and returns the thread's cell. `tile` holds the temperatures, visible to the
/// block; on return other threads may still be reading it.
__device__ inline float climb(float* tile, float source, const TileCell& cell, int steps,
                              const Coefficients& k) {
  float* own = tile + cell.index;
  float value = *own;
  for (int step = 0;;) {
    value =
        advance(value, own[cell.north], own[cell.south], own[cell.west], own[cell.east], source, k);
    if (++step == steps) return value;
    __syncthreads();  // everybody has read the old row before anybody overwrites it
    *own = value;
    __syncthreads();
  }
}

/// One launch per pyramid_height steps; `enqueue` makes the launch of one pass.
template <class Enqueue>
Launch climb_in_passes(const Problem& problem, Enqueue enqueue) {
  std::vector<int> steps(problem.steps / pyramid_height, pyramid_height);
  if (problem.steps % pyramid_height != 0) steps.push_back(problem.steps % pyramid_height);
  std::vector<Launch> launches;
  for (const Pass& pass : ping_pong(problem, steps)) {
    launches.push_back(enqueue(PyramidView{pass.source, problem.power, pass.destination,
                                           problem.coefficients, pass.steps}));
  }
  return [launches = std::move(launches)](Stream stream) {
    for (const Launch& one : launches) one(stream);
  };
}

inline dim3 pyramid_grid(const Problem& problem) {
  return dim3(static_cast<unsigned>(ceil_div(problem.result.columns, core)),
              static_cast<unsigned>(ceil_div(problem.result.rows, core)));
}

inline const std::vector<std::pair<std::string, std::int64_t>> pyramid_geometry = {
    {"tile", tile_size}, {"steps_per_pass", pyramid_height}, {"threads", tile_threads}};

}  // namespace amasia::hotspot
