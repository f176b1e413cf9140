// tma without a producer warp: each warp has stages of its own, filled by one box per array and
// row-block, and its lane 0 is the elected thread, so the warps of a block never wait for each
// other. BOXES says whether results leave as boxes, too, or straight from registers.
#pragma once

#include <type_traits>

#include "apps/hotspot/tiles.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/tensor.cuh"

namespace amasia::hotspot {

inline Grid<const float> readable(const Grid<float>& grid) {
  return {grid.data, grid.rows, grid.columns, grid.pitch};
}

/// Shared memory of one warp.
template <class S, bool BOXES>
struct alignas(128) WindowStages {
  struct Arrivals {
    float temperature[S::rows][S::window];
    float power[S::rows][S::window];
  };
  struct alignas(128) ResultBox {
    float cells[S::rows][S::useful];
  };
  struct Results {
    ResultBox box[2];  // one is written while the engine reads the other
  };
  struct NoResults {};
  Arrivals stages[S::stages];
  std::conditional_t<BOXES, Results, NoResults> results;
  tma::Barrier full[S::stages];
};

struct Maps {  // boxes of S::rows rows, and of one row where a row-block is mirrored at an edge
  CUtensorMap temperature, temperature_row, power, power_row, result;
};

template <class S, bool BOXES>
struct WindowBoxes : DirectStore<S> {
  static constexpr bool waits_as_block = false;
  static constexpr int chunk_stride = sizeof(float4);
  WindowStages<S, BOXES>& shared;
  const Maps& maps;
  using DirectStore<S>::run;
  int grid_rows, columns;
  int lane = threadIdx.x % lanes;
  int first_column;  // of the warp's window
  PipelineState<S::stages> state;

  __device__ WindowBoxes(WindowStages<S, BOXES>& own, const Maps& tensor_maps, const PassView& pass,
                         const Place<S>& place)
      : DirectStore<S>(pass, place.run, place.lane_column(), place.finished_chunks()),
        shared(own),
        maps(tensor_maps),
        grid_rows(place.grid_rows),
        columns(place.grid_columns),
        first_column(place.first_column + place.window_in_block() * S::useful) {
    if (lane == 0 && threadIdx.x / lanes % S::links == 0) {
      for (tma::Barrier& barrier : shared.full) tma::init(&barrier, 1);
      tma::fence_init();
      for (int n = 0; n < S::stages; ++n) copy(n, n);
    }
    __syncwarp();
  }
  __device__ bool at_edge() const { return first_column < 0 || first_column + S::window > columns; }
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
  __device__ void consumer_wait(int) {
    tma::wait(&shared.full[state.index], state.phase);
    if (at_edge()) {
      mirror_halo<S>(&shared.stages[state.index].temperature[0][0], 2 * S::rows, S::window,
                     first_column, columns, lane, lanes);
    }
    if (BOXES && lane == 0) tma::wait_stores_read<1>();  // the box of two row-blocks ago is free
    __syncwarp();
  }
  __device__ const float4* at(const float* row) const {
    return reinterpret_cast<const float4*>(row + lane * S::columns_per_lane);
  }
  __device__ const float4* first_chunk() const {
    return at(shared.stages[state.index].temperature[0]);
  }
  __device__ float4 temperature(int i, int j) const {
    return at(shared.stages[state.index].temperature[i])[j];
  }
  __device__ float4 power(int i, int j) const { return at(shared.stages[state.index].power[i])[j]; }
  __device__ void store(int n, int i, int j, float4 cells) const {
    if constexpr (BOXES) {
      const int column = lane * chunk_columns - S::halo;
      if (column >= 0 && column < S::useful) {
        *reinterpret_cast<float4*>(&shared.results.box[n % 2].cells[i][column]) = cells;
      }
    } else {
      DirectStore<S>::store(n, i, j, cells);
    }
  }
  __device__ void consumer_release(int n) {
    tma::fence_async_proxy();  // results, and halos that were mirrored in the stage
    __syncwarp();              // every lane has read the stage and written its results
    if (lane == 0) {
      if constexpr (BOXES) {
        if (n * S::rows >= S::warm_up) {  // the tensor map drops what lies outside the grid
          tma::store_tile(&maps.result, first_column + S::halo,
                          run.begin + n * S::rows - S::warm_up, &shared.results.box[n % 2]);
        }
        tma::commit_stores();
      }
      copy(n + S::stages, state.index);
    }
    ++state;
  }
};

}  // namespace amasia::hotspot
