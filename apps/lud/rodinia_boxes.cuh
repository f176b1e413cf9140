// iso and iso-walk by bulk copies: tiles of 16 x 16 come and leave as boxes.
#pragma once

#include "apps/lud/rodinia.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::lud {
namespace {

struct RodiniaMaps {
  CUtensorMap tile;  // boxes of 16 x 16
};

__device__ void begin(tma::Barrier* full) {
  if (threadIdx.x == 0) {
    tma::init(full, 1);
    tma::fence_init();
  }
  __syncthreads();
}
__device__ void load(float* to, const RodiniaMaps& maps, TileOrigin from, tma::Barrier* full) {
  tma::load_tile(to, &maps.tile, static_cast<int>(from.column), static_cast<int>(from.row), full);
}
__device__ void store(const RodiniaMaps& maps, TileOrigin to, const float* from) {
  tma::store_tile(&maps.tile, static_cast<int>(to.column), static_cast<int>(to.row), from);
}
__device__ void finish_stores() {
  tma::commit_stores();
  tma::wait_stores_read<0>();  // shared memory must outlive the copy
}

__global__ void __launch_bounds__(32)
    rodinia_diagonal(RodiniaStep s, const __grid_constant__ RodiniaMaps maps) {
  __shared__ alignas(128) float own[tile_elements];
  __shared__ tma::Barrier full;
  const int lane = threadIdx.x;
  begin(&full);
  if (lane == 0) {
    tma::expect(&full, RodiniaTile::bytes);
    load(own, maps, {s.first, s.first}, &full);
  }
  tma::wait(&full, 0);
  factor_tile(own, s.size(), lane);
  tma::fence_async_proxy();
  __syncthreads();
  if (lane == 0) {
    store(maps, {s.first, s.first}, own);
    finish_stores();
  }
}

__global__ void __launch_bounds__(32)
    rodinia_perimeter(RodiniaStep s, const __grid_constant__ RodiniaMaps maps) {
  __shared__ alignas(128) float diagonal_tile[tile_elements];
  __shared__ alignas(128) float beside[tile_elements];
  __shared__ alignas(128) float below[tile_elements];
  __shared__ tma::Barrier full;
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  begin(&full);
  if (lane == 0) {
    tma::expect(&full, 3 * RodiniaTile::bytes);
    load(diagonal_tile, maps, {s.first, s.first}, &full);
    load(beside, maps, s.beside(i), &full);
    load(below, maps, s.below(i), &full);
  }
  tma::wait(&full, 0);
  solve_perimeter(diagonal_tile, beside, below, lane);
  tma::fence_async_proxy();
  __syncthreads();
  if (lane == 0) {
    store(maps, s.beside(i), beside);
    store(maps, s.below(i), below);
    finish_stores();
  }
}

// Walking, two stages: what follows the next tile is asked for as soon as this one has left.
template <class Schedule>
__global__ void __launch_bounds__(internal_threads)
    rodinia_internal(RodiniaStep s, const __grid_constant__ RodiniaMaps maps) {
  constexpr int stages = Schedule::tiles > 1 ? 2 : 1;
  __shared__ alignas(128) float beside[stages][tile_elements];
  __shared__ alignas(128) float below[tile_elements];
  __shared__ alignas(128) float own[stages][tile_elements];  // of C
  __shared__ tma::Barrier full[stages];
  const int thread = threadIdx.x;
  const RowOfTiles<Schedule> tiles(s);
  const auto origin = [&](int i) {
    return TileOrigin{s.next() + std::int64_t{blockIdx.y} * tile,
                      s.next() + std::int64_t{i} * tile};
  };
  const auto ask_for = [&](int i, int stage, int bytes) {
    tma::expect(&full[stage], bytes);
    load(beside[stage], maps, s.beside(i), &full[stage]);
    load(own[stage], maps, origin(i), &full[stage]);
  };

  // Prologue
  if (thread == 0) {
    for (tma::Barrier& b : full) tma::init(&b, 1);
    tma::fence_init();
  }
  __syncthreads();
  if (thread == 0) {
    ask_for(tiles.begin, 0, 3 * RodiniaTile::bytes);
    load(below, maps, s.below(static_cast<int>(blockIdx.y)), &full[0]);
    if (stages > 1 && tiles.begin + 1 < tiles.end) {
      ask_for(tiles.begin + 1, 1, 2 * RodiniaTile::bytes);
    }
  }

  // Main loop
  PipelineState<stages> state;
  for (int i = tiles.begin; i < tiles.end; ++i, ++state) {
    const int stage = state.index;
    tma::wait(&full[stage], state.phase);
    own[stage][thread] -= inner_product(below, beside[stage], thread / tile, thread % tile);
    tma::fence_async_proxy();
    __syncthreads();
    if (thread == 0) {
      store(maps, origin(i), own[stage]);
      finish_stores();
      if (i + stages < tiles.end) ask_for(i + stages, stage, 2 * RodiniaTile::bytes);
    }
  }
}

template <class Schedule>
ConfigOf<Problem> rodinia_in_boxes() {
  return rodinia_config<Schedule>(
      rodinia_diagonal, rodinia_perimeter, rodinia_internal<Schedule>, Schedule::tiles > 1 ? 2 : 1,
      3 * RodiniaTile::bytes, [](const Problem& p) {
        const Grid<float>& m = p.matrix;
        return std::tuple(RodiniaMaps{
            tensor_map(Grid<const float>{m.data, m.rows, m.columns, m.pitch}, tile, tile)});
      });
}

}  // namespace
}  // namespace amasia::lud
