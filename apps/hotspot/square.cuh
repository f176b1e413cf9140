// The schedule 64x64 (geometry.hpp) as device code, common to all strategies that run it.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apps/hotspot/geometry.hpp"
#include "apps/hotspot/kernel.cuh"
#include "apps/hotspot/schedules.hpp"
#include "harness/variant.hpp"
#include "variants/device/dependent_launch.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {

/// Arguments of one pass.
struct SquareView {
  Grid<const float> temperature;
  Grid<const float> power;
  Grid<float> result;
  Coefficients coefficients;
  int steps;
  SquareAxis down, across;
};

/// A block's square and a thread's patch of it.
struct Square {
  int row, column;                                           // in squares
  int first_row, first_column;                               // of the square, in the grid
  int x = threadIdx.x % patches, y = threadIdx.x / patches;  // of the patch, in patches

  __device__ explicit Square(const SquareView& v)
      : row(static_cast<int>(blockIdx.x) / v.across.count),
        column(static_cast<int>(blockIdx.x) % v.across.count),
        first_row(v.down.first(row, 2)),  // so that row + column of the square is even
        first_column(v.across.first(column, patch)) {
    follow_predecessor();
  }
  __device__ int patch_row() const { return first_row + y * patch; }
  __device__ int patch_column() const { return first_column + x * patch; }
  /// Whether row i of the patch can be read as 16 bytes; the padding behind a row belongs to it.
  __device__ bool inside(const SquareView& v, int i) const {
    return patch_row() + i < v.down.extent && patch_column() < v.across.extent;
  }
  /// Where row i of the patch begins in a grid; only if it is inside.
  __device__ std::int64_t offset(const SquareView& v, int i) const {
    return (std::int64_t{patch_row()} + i) * v.result.pitch + patch_column();
  }
};

/// A square in shared memory, by 16-byte chunks: (rows, patches).
struct SquareTile {
  float4 rows[square][patches];
};

/// A copy of BYTES bytes that the thread does not wait for.
struct AsyncCopy {
  template <int BYTES>
  __device__ void copy(float* to, const float* from) const {
    async::copy<BYTES>(to, from);
  }
};

/// Starts the block's copies of a square; what lies outside the grid stays as it is.
template <class Copier = AsyncCopy>
__device__ void copy_square(SquareTile& tile, const Grid<const float>& grid, const Square& s,
                            const Copier& copier = {}) {
#pragma unroll
  for (int chunk = threadIdx.x; chunk < square * patches; chunk += square_threads) {
    const int row = chunk / patches, x = chunk % patches;
    const std::int64_t column = s.first_column + x * patch;
    if (s.first_row + row < grid.rows && column < grid.columns) {
      copier.template copy<16>(&tile.rows[row][x].x,
                               grid.data + (std::int64_t{s.first_row} + row) * grid.pitch + column);
    }
  }
}

/// What the patches of a square show each other: the outer rows of each, alternately in two places,
/// so that one barrier per step is enough.
struct SquareEdges {
  float4 top[2][patches][patches];  // (steps, y, x)
  float4 bottom[2][patches][patches];
};

/// The steps of a square whose temperatures a thread holds. RAGGED: part of it lies outside the
/// grid. power(i) is asked for row i of the patch once the first step has exchanged temperatures.
template <bool RAGGED, class Power>
__device__ void advance_patch(SquareEdges& edges, const Square& s, const SquareView& v,
                              float4 (&rows)[patch], const Power& power) {
  float cells[patch][patch], source[patch][patch];
#pragma unroll
  for (int i = 0; i < patch; ++i) {
    const float4 row = rows[i];
    cells[i][0] = row.x, cells[i][1] = row.y, cells[i][2] = row.z, cells[i][3] = row.w;
  }
  // Beyond these there is nothing: a cell takes its own temperature there.
  const int last_row = v.down.extent - 1 - s.patch_row();
  const int last_column = v.across.extent - 1 - s.patch_column();
  const auto pack = [](const float* row) { return make_float4(row[0], row[1], row[2], row[3]); };
  for (int step = 0; step < v.steps; ++step) {
    edges.top[step % 2][s.y][s.x] = pack(cells[0]);
    edges.bottom[step % 2][s.y][s.x] = pack(cells[patch - 1]);
    __syncthreads();
    const float4 above = s.y > 0 ? edges.bottom[step % 2][s.y - 1][s.x] : pack(cells[0]);
    const float4 below =
        s.y < patches - 1 ? edges.top[step % 2][s.y + 1][s.x] : pack(cells[patch - 1]);
    if (step == 0) {
#pragma unroll
      for (int i = 0; i < patch; ++i) {
        const float4 watt = power(i);
        source[i][0] = source_term(watt.x, v.coefficients);
        source[i][1] = source_term(watt.y, v.coefficients);
        source[i][2] = source_term(watt.z, v.coefficients);
        source[i][3] = source_term(watt.w, v.coefficients);
      }
    }
    float north[patch] = {above.x, above.y, above.z, above.w};
    const float under[patch] = {below.x, below.y, below.z, below.w};
#pragma unroll
    for (int i = 0; i < patch; ++i) {
      float west = __shfl_up_sync(0xffffffffu, cells[i][patch - 1], 1, patches);
      float east = __shfl_down_sync(0xffffffffu, cells[i][0], 1, patches);
      if (s.x == 0) west = cells[i][0];
      if (s.x == patches - 1) east = cells[i][patch - 1];
      float next[patch];
#pragma unroll
      for (int c = 0; c < patch; ++c) {
        const float own = cells[i][c];
        float south = i < patch - 1 ? cells[i < patch - 1 ? i + 1 : i][c] : under[c];
        float right = c < patch - 1 ? cells[i][c < patch - 1 ? c + 1 : c] : east;
        if (RAGGED && i == last_row) south = own;
        if (RAGGED && c == last_column) right = own;
        const float left = c > 0 ? cells[i][c > 0 ? c - 1 : 0] : west;
        const bool even = is_even(i, c);
        next[c] = advance_pairs(own, north[c] + (even ? left : right),
                                south + (even ? right : left), source[i][c], v.coefficients);
      }
#pragma unroll
      for (int c = 0; c < patch; ++c) {
        north[c] = cells[i][c];
        cells[i][c] = next[c];
      }
    }
  }
#pragma unroll
  for (int i = 0; i < patch; ++i) rows[i] = pack(cells[i]);
}

/// Advances the square and stores what it finishes.
template <class Power>
__device__ void advance_square(SquareEdges& edges, const Square& s, const SquareView& v,
                               float4 (&rows)[patch], const Power& power) {
  if (s.first_row + square > v.down.extent || s.first_column + square > v.across.extent) {
    advance_patch<true>(edges, s, v, rows, power);
  } else {
    advance_patch<false>(edges, s, v, rows, power);
  }
  const int column = s.patch_column();
  if (column < v.across.begin(s.column) || column >= v.across.end(s.column)) return;
#pragma unroll
  for (int i = 0; i < patch; ++i) {
    const int row = s.patch_row() + i;
    if (row >= v.down.begin(s.row) && row < v.down.end(s.row)) {
      *reinterpret_cast<float4*>(v.result.data + s.offset(v, i)) = rows[i];
    }
  }
}

/// The config of the schedule by `kernel`; `enqueue` makes the launch of a view and a shape.
template <class Enqueue>
ConfigOf<Problem> squares(Start start, const void* kernel, const Enqueue& enqueue) {
  ConfigOf<Problem> config;
  config.info.schedule = config.info.name = schedule_name(square_name, start);
  config.info.geometry = {
      {"tile", square}, {"steps_per_pass", most_square_steps}, {"threads", square_threads}};
  config.info.movement = {{"stages", 1}, {"stage_rows", square}, {"producer_warps", 0}};
  config.info.kernels = {{kernel, square_threads, 0, 1, 2 * square * square * sizeof(float)}};
  config.unsupported = [start](const Problem& problem, const Device& device) {
    return pair_objection(problem, start, device);
  };
  config.prepare = [start, enqueue](const Problem& problem, const Device& device) {
    FollowingShape shape{{dim3(1), dim3(square_threads)}};
    const int most = best_square_steps(problem.result.rows, problem.result.columns, problem.steps,
                                       squares_per_sm * device.sm_count);
    std::vector<int> steps(problem.steps / most, most);
    if (problem.steps % most != 0) steps.push_back(problem.steps % most);
    std::vector<Launch> launches;
    for (const Pass& pass : ping_pong(problem, steps)) {
      const SquareView view{pass.source,
                            problem.power,
                            pass.destination,
                            problem.coefficients,
                            pass.steps,
                            SquareAxis::of(problem.result.rows, pass.steps),
                            SquareAxis::of(problem.result.columns, column_halo(pass.steps))};
      shape.grid.x =
          static_cast<unsigned>(view.down.count) * static_cast<unsigned>(view.across.count);
      shape.early = start == Start::dependent && !launches.empty();
      launches.push_back(enqueue(view, shape));
    }
    return [launches = std::move(launches)](Stream stream) {
      for (const Launch& one : launches) one(stream);
    };
  };
  return config;
}

/// The same for a kernel that takes the view and nothing else.
inline ConfigOf<Problem> squares(Start start, void (*kernel)(SquareView)) {
  return squares(start, reinterpret_cast<const void*>(kernel),
                 [kernel](const SquareView& view, const FollowingShape& shape) -> Launch {
                   return [=](Stream stream) { launch(kernel, shape, stream, view); };
                 });
}

/// The same for a kernel that brings squares by tensor map.
struct SquareMaps {
  CUtensorMap temperature, power;
};
inline ConfigOf<Problem> squares(Start start, void (*kernel)(SquareView, SquareMaps)) {
  return squares(start, reinterpret_cast<const void*>(kernel),
                 [kernel](const SquareView& view, const FollowingShape& shape) -> Launch {
                   const SquareMaps maps{tensor_map(view.temperature, square, square),
                                         tensor_map(view.power, square, square)};
                   return [=](Stream stream) { launch(kernel, shape, stream, view, maps); };
                 });
}

}  // namespace amasia::hotspot
