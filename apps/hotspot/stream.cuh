// The schedule of strip.hpp as device code, common to all streaming variants. A variant brings a
// Mover, which says how rows get from global memory to the warp that needs them:
//
//   acquire(n)          row-block n has arrived and may be read; later ones may be under way
//   temperature(i)      the lane's four cells of row i of the row-block, power(i) likewise
//   store(n, i, cells)  a finished row: four cells per lane, some lanes' are halo
//   release(n)          row-block n has been read
//   exchange(pipeline)  what neighbouring windows tell each other before the next row-block (dsm
//   alone)
#pragma once

#include <algorithm>
#include <utility>

#include "apps/hotspot/kernel.cuh"
#include "apps/hotspot/schedule.hpp"
#include "apps/hotspot/strip.hpp"
#include "harness/variant.hpp"
#include "variants/device/launch.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {

/// Arguments of one pass.
struct PassView {
  Grid<const float> temperature;
  Grid<const float> power;
  Grid<float> result;
  Coefficients coefficients;
  int chunk_rows;
};

/// The rows of STEPS consecutive time steps that a lane holds, four cells of each. Loops over it
/// must be unrolled completely: an index known only at run time would move it to local memory.
template <int STEPS>
struct Pipeline {
  float opened[STEPS][columns_per_lane] = {};  // newest row of each step, its south still missing
  float newest[STEPS][columns_per_lane] = {};  // the same row as it is: the next row's north
  float source[STEPS][columns_per_lane] = {};  // source terms of the last STEPS rows, a ring

  /// Takes row ROW (modulo Strip::unroll) of step 0 and returns row ROW - STEPS of step STEPS.
  template <int ROW>
  __device__ __forceinline__ float4 push(float4 temperature, float4 power, const Coefficients& k) {
    float arriving[columns_per_lane] = {temperature.x, temperature.y, temperature.z, temperature.w};
    const float watts[columns_per_lane] = {power.x, power.y, power.z, power.w};
#pragma unroll
    for (int c = 0; c < columns_per_lane; ++c) {
      source[ROW % STEPS][c] = source_term(watts[c], k);
    }
    // A row is closed as soon as it can be, but the row that arrives with it is opened one step
    // later: by then the shuffles that fetch its outer neighbours have returned.
    float pending[columns_per_lane], west = 0,
                                     east = 0;  // the row of step s - 1 still to be opened
#pragma unroll
    for (int s = 0; s <= STEPS; ++s) {
      float finished[columns_per_lane], next_west = 0, next_east = 0;
      if (s < STEPS) {
#pragma unroll
        for (int c = 0; c < columns_per_lane; ++c) {
          finished[c] = close_cell(opened[s][c], arriving[c], k);
        }
        next_west = __shfl_up_sync(0xffffffffu, arriving[columns_per_lane - 1], 1);
        next_east = __shfl_down_sync(0xffffffffu, arriving[0], 1);
      }
      if (s > 0) {
#pragma unroll
        for (int c = 0; c < columns_per_lane; ++c) {
          opened[s - 1][c] = open_cell(pending[c], newest[s - 1][c], c > 0 ? pending[c - 1] : west,
                                       c < columns_per_lane - 1 ? pending[c + 1] : east,
                                       source[(ROW % STEPS + STEPS - (s - 1)) % STEPS][c], k);
        }
#pragma unroll
        for (int c = 0; c < columns_per_lane; ++c) newest[s - 1][c] = pending[c];
      }
      if (s < STEPS) {
#pragma unroll
        for (int c = 0; c < columns_per_lane; ++c) {
          pending[c] = arriving[c];
          arriving[c] = finished[c];
        }
        west = next_west;
        east = next_east;
      }
    }
    return make_float4(arriving[0], arriving[1], arriving[2], arriving[3]);
  }
};

/// The row-blocks of one period of the register roles, PHASE being the first row's place in it. The
/// roles are template arguments, not the index of a loop that the compiler may leave rolled.
/// Returns false after the last row-block.
template <class S, int PHASE, class Mover, int... ROW>
__device__ __forceinline__ bool stream_period(Mover& mover, Pipeline<S::steps>& pipeline, int& n,
                                              int blocks, const Coefficients& k,
                                              std::integer_sequence<int, ROW...> rows) {
  mover.acquire(n);
  (mover.store(n, ROW,
               pipeline.template push<PHASE + ROW>(mover.temperature(ROW), mover.power(ROW), k)),
   ...);
  mover.release(n);
  if (++n == blocks) return false;
  mover.exchange(pipeline);
  if constexpr (PHASE + S::rows < S::unroll) {
    return stream_period<S, PHASE + S::rows>(mover, pipeline, n, blocks, k, rows);
  }
  return true;
}

/// Walks a warp down its window.
template <class S, class Mover>
__device__ __forceinline__ void stream(Mover& mover, int blocks, const Coefficients& k) {
  Pipeline<S::steps> pipeline;
  int n = 0;
  while (stream_period<S, 0>(mover, pipeline, n, blocks, k,
                             std::make_integer_sequence<int, S::rows>{})) {
  }
}

/// Where a block works: its row run and the first column of its tile, a multiple of four, -halo at
/// the west edge.
template <class S>
struct Place {
  RowRun run;
  int first_column;
  bool at_edge;  // some column of the tile lies outside the grid

  __device__ explicit Place(const PassView& pass)
      : run(row_run<S>(blockIdx.y, pass.chunk_rows, static_cast<int>(pass.result.rows))),
        first_column(S::first_column(static_cast<int>(blockIdx.x))),
        at_edge(first_column < 0 || first_column + S::tile_columns > pass.result.columns) {}

  __device__ int lane_column() const {
    return S::lane_column(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x) / lanes,
                          static_cast<int>(threadIdx.x) % lanes);
  }
  __device__ static bool lane_finishes() {
    return S::lane_finishes(static_cast<int>(threadIdx.x) % lanes);
  }
};

/// Stores the lane's finished cells to global memory, 16 bytes at once; the padding behind a row
/// takes what exceeds the grid.
template <class S>
struct DirectStore {
  float* cells;  // the lane's column in the row that the first arrival finishes
  std::int64_t pitch;
  int skip;  // rows that are not results yet
  int rows;  // rows up to the end of the results; 0 for a lane that holds halo

  __device__ DirectStore(const PassView& pass, const RowRun& run, int column, bool finishes)
      : cells(pass.result.data + (std::int64_t{run.begin} - S::warm_up) * pass.result.pitch +
              column),
        pitch(pass.result.pitch),
        skip(S::warm_up),
        rows(finishes && column < pass.result.columns ? run.end - run.begin + S::warm_up : 0) {}

  __device__ void store(int n, int i, float4 finished) const {
    const int row = n * S::rows + i;
    if (row >= skip && row < rows) *reinterpret_cast<float4*>(cells + row * pitch) = finished;
  }
  __device__ void exchange(const Pipeline<S::steps>&) const {}
};

/// Fills the halo columns that lie outside the grid with their mirror images, in all rows of a
/// row-block (temperatures and powers, `width` cells each) that `threads` threads share. The halo's
/// cells are dealt out one per thread: done column by column, load after store after load, this
/// would take as long as the computation and edge blocks would hold up the whole pass. Follow with
/// a barrier.
template <class S>
__device__ void mirror_halo(float* cells, int width, int first_column, int columns, int thread,
                            int threads) {
  for (int i = thread; i < 2 * S::rows * S::halo; i += threads) {
    float* row = cells + i / S::halo * width - first_column;  // indexed by grid column
    const int west = -1 - i % S::halo;
    const int east = columns + i % S::halo;
    if (first_column < 0) row[west] = row[mirror(west, columns)];
    if (east < first_column + width) {
      // An image outside the tile belongs to a window that lies outside the grid altogether.
      const int image = mirror(east, columns);
      if (image >= first_column && east >= first_column) row[east] = row[image];
    }
  }
}

/// A tile of S::rows rows that a block shares, temperature then power: (2, rows, tile_columns).
template <class S>
struct BlockTile {
  float temperature[S::rows][S::tile_columns];
  float power[S::rows][S::tile_columns];

  __device__ void mirror_columns(int first_column, int columns) {
    mirror_halo<S>(&temperature[0][0], S::tile_columns, first_column, columns, threadIdx.x,
                   S::threads);
  }
};

/// The 16-byte chunk that this thread copies of each row of a block's tile.
template <class S>
struct ChunkSource {
  const float* temperature;
  const float* power;
  std::int64_t pitch;
  int grid_rows;
  int first;   // first row of the run
  int inside;  // bytes of the chunk that lie inside the grid; -1: this thread copies nothing

  __device__ ChunkSource(const PassView& pass, const Place<S>& place)
      : pitch(pass.result.pitch),
        grid_rows(static_cast<int>(pass.result.rows)),
        first(place.run.first) {
    const int column = place.first_column + columns_per_lane * static_cast<int>(threadIdx.x);
    const std::int64_t left = pass.result.columns - column;
    inside = static_cast<int>(threadIdx.x) >= S::tile_chunks ? -1
             : column < 0 || left <= 0                       ? 0
                                       : (left < 4 ? static_cast<int>(left) : 4) * 4;
    temperature = pass.temperature.data + (inside > 0 ? column : 0);
    power = pass.power.data + (inside > 0 ? column : 0);
  }
  /// Where row i of row-block n begins, in elements after the chunk's own column.
  __device__ std::int64_t offset(int n, int i) const {
    return std::int64_t{mirror(first + n * S::rows + i, grid_rows)} * pitch;
  }
};

/// Starts the copies of row-block n into a tile by cp.async; a chunk outside the grid becomes zero.
template <class S>
__device__ void copy_row_block(BlockTile<S>& tile, const ChunkSource<S>& source, int n) {
  if (source.inside < 0) return;
  const int column = static_cast<int>(threadIdx.x) * columns_per_lane;
#pragma unroll
  for (int i = 0; i < S::rows; ++i) {
    const std::int64_t offset = source.offset(n, i);
    async::copy<16>(&tile.temperature[i][column], source.temperature + offset, source.inside);
    async::copy<16>(&tile.power[i][column], source.power + offset, source.inside);
  }
}

/// Reads a block's tiles from shared memory and stores results from registers: what the movers that
/// copy tiles by all threads have in common.
template <class S>
struct TileReader : DirectStore<S> {
  BlockTile<S>* current = nullptr;
  int column = threadIdx.x / lanes * S::useful + threadIdx.x % lanes * columns_per_lane;

  __device__ TileReader(const PassView& pass, const Place<S>& place)
      : DirectStore<S>(pass, place.run, place.lane_column(), place.lane_finishes()) {}
  __device__ float4 temperature(int i) const {
    return *reinterpret_cast<const float4*>(&current->temperature[i][column]);
  }
  __device__ float4 power(int i) const {
    return *reinterpret_cast<const float4*>(&current->power[i][column]);
  }
};

/// Grid, block and shared memory of a pass by `kernel`, whose chunks fill the device.
template <class S>
LaunchShape pass_shape(const void* kernel, const Problem& problem, const Device& device,
                       std::size_t shared_bytes, int& chunk_rows) {
  LaunchShape shape;
  shape.block = dim3(S::threads);
  shape.dynamic_shared_bytes = shared_bytes;
  shape.cluster_blocks = S::cluster_blocks;
  allow_launch(kernel, shape);
  const std::int64_t across =
      ceil_div(problem.result.columns, S::cluster_columns) * S::cluster_blocks;
  const int resident = resident_blocks(kernel, shape, device.sm_count);
  chunk_rows = best_chunk_rows<S>(problem.result.rows, across, resident);
  shape.grid = dim3(static_cast<unsigned>(across),
                    static_cast<unsigned>(ceil_div(problem.result.rows, chunk_rows)));
  return shape;
}

/// A pass whose kernel takes a PassView and nothing else.
template <class S>
Launch enqueue_pass(void (*kernel)(PassView), const Problem& problem, const Pass& pass,
                    const Device& device, std::size_t shared_bytes) {
  PassView view{pass.source, problem.power, pass.destination, problem.coefficients, 0};
  const LaunchShape shape = pass_shape<S>(reinterpret_cast<const void*>(kernel), problem, device,
                                          shared_bytes, view.chunk_rows);
  return [=](Stream stream) { launch(kernel, shape, stream, view); };
}

/// Runs one launch after the other.
inline Launch in_order(std::vector<Launch> launches) {
  return [launches = std::move(launches)](Stream stream) {
    for (const Launch& one : launches) one(stream);
  };
}

/// A config whose passes advance STEPS time steps each, chosen by plan_passes(). Kernels supplies,
/// for a Strip S: use<S>(), the KernelUse, and pass<S>(problem, pass, device), the launch.
template <class Kernels, int WARPS, int STAGES, int... STEPS>
ConfigOf<Problem> streaming(std::string name) {
  ConfigOf<Problem> config;
  config.info.name = std::move(name);
  config.info.geometry = {{"warps", WARPS},
                          {"columns_per_lane", columns_per_lane},
                          {"rows_per_stage", rows_per_stage(std::max({STEPS...}))},
                          {"stages", STAGES},
                          {"steps_per_pass", std::max({STEPS...})}};
  config.info.kernels = {Kernels::template use<Strip<STEPS, WARPS, STAGES>>()...};
  config.prepare = [](const Problem& problem, const Device& device) {
    std::vector<Launch> launches;
    for (const Pass& pass : ping_pong(problem, plan_passes(problem.steps, {STEPS...}))) {
      (void)((pass.steps == STEPS &&
              (launches.push_back(
                   Kernels::template pass<Strip<STEPS, WARPS, STAGES>>(problem, pass, device)),
               true)) ||
             ...);
    }
    return in_order(std::move(launches));
  };
  return config;
}

}  // namespace amasia::hotspot
