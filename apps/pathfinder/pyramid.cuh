// The original schedule (Rodinia), `iso` of every variant: one column per thread, costs
// of a row in shared memory, two barriers per row, 20 rows per launch. Variants bring their own
// kernel, which does the prologue; the row loop and the launches are here. Walls are input: a
// kernel asks for its first ones, waits for the launch before it, and only then reads that one's
// costs.
#pragma once

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/pathfinder/geometry.hpp"
#include "apps/pathfinder/kernel.cuh"
#include "apps/pathfinder/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/dependent_launch.cuh"

namespace amasia::pathfinder {

using Iso = Pyramid<>;

/// One launch: `steps` <= 20 rows of wall from first_row on.
struct PyramidRun {
  Grid<const int> wall;
  const int* source = nullptr;  // costs of row first_row - 1
  int* result = nullptr;
  std::int64_t first_row = 1;
  int steps = 0;
};

/// Costs of a block's columns: the row above, and the row being made.
struct PyramidRows {
  int above[Iso::threads];
  int made[Iso::threads];
};

/// The wall rows of a launch in shared memory, all at once: walls, and the row of costs above.
using WallTile = Tile<int, Iso::height, Iso::threads>;
using RowTile = Tile<int, 1, Iso::threads>;

struct TileWall {
  const int* tile;
  __device__ void consumer_wait(int) {}
  __device__ int at(int i) const { return tile[i * Iso::threads + threadIdx.x]; }
};

/// The row loop. The block's costs of the source row must be in rows.above, visible to all. `wall`
/// is what strategies differ in: all threads call wall.consumer_wait(i) before row i, and those
/// that still compute call wall.at(i) for their own column.
template <class Wall>
__device__ __forceinline__ void climb(const PyramidRun& run, PyramidRows& rows, Wall& wall) {
  // The kernel that calls this has done the prologue.
  const int thread = threadIdx.x;
  const std::int64_t column = Iso::column(blockIdx.x, thread);
  const bool inside = column >= 0 && column < run.wall.columns;
  const int left = column == 0 ? thread : thread - 1;
  const int right = column == run.wall.columns - 1 ? thread : thread + 1;
  // Main loop
  bool computed = inside;
  int cost = rows.above[thread];
  for (int i = 0; i < run.steps; ++i) {
    wall.consumer_wait(i);
    computed = inside && Iso::correct(thread, i + 1);
    if (computed) {
      cost = step(wall.at(i), rows.above[left], rows.above[thread], rows.above[right]);
      rows.made[thread] = cost;
    }
    __syncthreads();
    if (i == run.steps - 1) break;
    if (computed) rows.above[thread] = rows.made[thread];
    __syncthreads();
  }
  // Epilogue
  if (computed && Iso::correct(thread, Iso::height)) run.result[column] = cost;
}

/// An iso config of a kernel: all launches of a run, rows handed over through `scratch` and
/// `result`. `start`: how launches follow each other.
template <class P = Iso, class Kernel, class Arguments = NoArguments>
ConfigOf<Problem> pyramid_config(const std::string& note, Kernel kernel,
                                 std::size_t bytes_in_flight,
                                 std::vector<std::pair<std::string, std::int64_t>> movement,
                                 Start start = Start::in_turn, Arguments arguments = {}) {
  ConfigOf<Problem> config;
  config.info.schedule = start == Start::dependent ? iso_dependent_name : iso_name;
  config.info.name = config.info.schedule + (note.empty() ? "" : "/" + note);
  config.info.geometry = {
      {"threads", P::threads}, {"pyramid_height", P::height}, {"cluster", P::cluster}};
  config.info.kernels = {
      {reinterpret_cast<const void*>(kernel), P::threads, 0, P::cluster, bytes_in_flight}};
  config.info.movement = std::move(movement);
  config.unsupported = [start](const Problem&, const Device& d) {
    return start_objection(start, d);
  };
  config.prepare = [start, kernel, arguments](const Problem& p, const Device&) -> Launch {
    FollowingShape shape;
    shape.grid = dim3(static_cast<unsigned>(P::blocks(p.wall.columns)));
    shape.block = dim3(P::threads);
    shape.cluster_blocks = P::cluster;
    allow_launch(reinterpret_cast<const void*>(kernel), shape);
    return [=, extra = arguments(p)](Stream stream) {
      FollowingShape following = shape;
      const std::int64_t launches = P::launches(p.wall.rows);
      PyramidRun run;
      run.wall = p.wall;
      run.source = p.wall.data;
      for (std::int64_t i = 0; i < launches; ++i) {
        run.first_row = 1 + i * P::height;
        const std::int64_t left = p.wall.rows - run.first_row;
        run.steps = static_cast<int>(left < P::height ? left : P::height);
        run.result = (launches - 1 - i) % 2 == 0 ? p.result : p.scratch;
        following.early = start == Start::dependent && i > 0;
        std::apply([&](const auto&... more) { launch(kernel, following, stream, run, more...); },
                   extra);
        run.source = run.result;
      }
    };
  };
  return config;
}

}  // namespace amasia::pathfinder
