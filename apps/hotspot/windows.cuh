// tma without a producer warp: each warp has stages of its own, filled by one box per array and
// row-block, and its lane 0 is the elected thread, so the warps of a block never wait for each
// other.
#pragma once

#include "apps/hotspot/tiles.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::hotspot {

/// Shared memory of one warp.
template <class S>
struct alignas(128) WindowStages {
  struct Arrivals {
    float temperature[S::rows][window];
    float power[S::rows][window];
  };
  Arrivals stages[S::stages];
  tma::Barrier full[S::stages];
};

struct Maps {  // boxes of S::rows rows, and of one row where a row-block is mirrored at an edge
  CUtensorMap temperature, temperature_row, power, power_row;
};

template <class S>
struct WindowBoxes : DirectStore<S> {
  WindowStages<S>& shared;
  const Maps& maps;
  const RowRun& run;
  int grid_rows, columns;
  int lane = threadIdx.x % lanes;
  int first_column;  // of the warp's window
  PipelineState<S::stages> state;

  __device__ WindowBoxes(WindowStages<S>& own, const Maps& tensor_maps, const PassView& pass,
                         const Place<S>& place)
      : DirectStore<S>(pass, place.run, place.lane_column(), place.lane_finishes()),
        shared(own),
        maps(tensor_maps),
        run(place.run),
        grid_rows(place.grid_rows),
        columns(place.grid_columns),
        first_column(place.first_column + static_cast<int>(threadIdx.x) / lanes * S::useful) {
    if (lane == 0) {
      for (tma::Barrier& barrier : shared.full) tma::init(&barrier, 1);
      tma::fence_init();
      for (int n = 0; n < S::stages; ++n) copy(n, n);
    }
    __syncwarp();
  }
  __device__ bool at_edge() const { return first_column < 0 || first_column + window > columns; }
  __device__ void copy(int n, int stage) {
    if (n >= run.blocks) return;
    tma::Barrier* full = &shared.full[stage];
    auto& arrivals = shared.stages[stage];
    tma::expect(full, sizeof(arrivals));
    const int row = run.first + n * S::rows;
    if (row >= 0 && row + S::rows <= grid_rows) {
      tma::load_tile(arrivals.temperature, &maps.temperature, first_column, row, full);
      tma::load_tile(arrivals.power, &maps.power, first_column, row, full);
    } else {
      for (int i = 0; i < S::rows; ++i) {
        const int image = mirror(row + i, grid_rows);
        tma::load_tile(arrivals.temperature[i], &maps.temperature_row, first_column, image, full);
        tma::load_tile(arrivals.power[i], &maps.power_row, first_column, image, full);
      }
    }
  }
  /// A lane fills a column of the halo, so that no index has to be divided: at the west edge, and
  /// at the east edge. An image outside the window belongs to cells that nobody finishes.
  __device__ void mirror_columns(float* cells) const {
    if (lane >= S::halo) return;
    for (const int column : {-1 - lane, columns + lane}) {
      const int to = column - first_column, from = mirror(column, columns) - first_column;
      if (to < 0 || to >= window || from < 0 || from >= window) continue;
#pragma unroll 1
      for (int first = 0; first < 2 * S::rows; first += S::rows) {  // temperatures, powers
        float values[S::rows];
#pragma unroll
        for (int i = 0; i < S::rows; ++i) values[i] = cells[(first + i) * window + from];
#pragma unroll
        for (int i = 0; i < S::rows; ++i) cells[(first + i) * window + to] = values[i];
      }
    }
  }
  __device__ void consumer_wait(int) {
    tma::warp_wait(&shared.full[state.index], state.phase);
    if (at_edge()) {
      mirror_columns(&shared.stages[state.index].temperature[0][0]);
    }
    __syncwarp();
  }
  __device__ float4 temperature(int i) const {
    return *reinterpret_cast<const float4*>(
        &shared.stages[state.index].temperature[i][lane * columns_per_lane]);
  }
  __device__ float4 power(int i) const {
    return *reinterpret_cast<const float4*>(
        &shared.stages[state.index].power[i][lane * columns_per_lane]);
  }
  __device__ void consumer_release(int n) {
    // The engine writes by its own path: what a lane has read has to have come, and what it has
    // mirrored has to be written, before the stage is filled again.
    tma::fence_async_proxy();
    __syncwarp();  // every lane has read the stage
    if (lane == 0) copy(n + S::stages, state.index);
    ++state;
  }
};

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    tma_windows(PassView pass, const __grid_constant__ Maps maps) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Place<S> place(pass);
  auto* shared = reinterpret_cast<WindowStages<S>*>(memory);
  WindowBoxes<S> pipeline(shared[threadIdx.x / lanes], maps, pass, place);
  stream<S>(pipeline, place.run.blocks, pass);
}

/// For add_streaming() (stream.cuh).
struct Windows : PlainKernels {
  template <class S>
  static auto kernel() {
    return tma_windows<S>;
  }
  template <class S>
  static constexpr std::size_t shared_bytes = S::warps * sizeof(WindowStages<S>);
  template <class S>
  static constexpr std::size_t in_flight = S::warps* S::stages *
                                           sizeof(typename WindowStages<S>::Arrivals);
  template <class S>
  static std::tuple<Maps> arguments(const Problem& problem, const Pass& pass) {
    return {{tensor_map(pass.source, S::rows, window), tensor_map(pass.source, 1, window),
             tensor_map(problem.power, S::rows, window), tensor_map(problem.power, 1, window)}};
  }
};

}  // namespace amasia::hotspot
