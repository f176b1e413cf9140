// iso and iso-walk with tiles through registers, as in Rodinia.
#pragma once

#include "apps/lud/rodinia.cuh"
#include "variants/copies/tile_through_registers.cuh"

namespace amasia::lud {
namespace {

__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ alignas(16) float own[tile_elements];
  const int lane = threadIdx.x;
  baseline::copy_tile<RodiniaTile, 32>(own, s.source(), {s.first, s.first}, lane);
  __syncthreads();
  factor_tile(own, s.size(), lane);
  store_rows(s, {s.first, s.first}, own, lane, 32);
}

__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s) {
  __shared__ alignas(16) float diagonal_tile[tile_elements];
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  baseline::copy_tile<RodiniaTile, 32>(diagonal_tile, s.source(), {s.first, s.first}, lane);
  baseline::copy_tile<RodiniaTile, 32>(beside, s.source(), s.beside(i), lane);
  baseline::copy_tile<RodiniaTile, 32>(below, s.source(), s.below(i), lane);
  __syncthreads();
  solve_perimeter(diagonal_tile, beside, below, lane);
  __syncthreads();
  store_rows(s, s.beside(i), beside, lane, 32);
  store_rows(s, s.below(i), below, lane, 32);
}

// Walking, a thread holds its share of U's next tile while this one is multiplied.
template <class Schedule>
__global__ void __launch_bounds__(internal_threads) rodinia_internal(RodiniaStep s) {
  constexpr bool walks = Schedule::tiles > 1;
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int thread = threadIdx.x, row = thread / tile, column = thread % tile;
  const RowOfTiles<Schedule> tiles(s);

  // Prologue
  HeldTile held(s, tiles.begin, tiles.end, thread);
  baseline::copy_tile<RodiniaTile, internal_threads>(
      below, s.source(), s.below(static_cast<int>(blockIdx.y)), thread ^ RodiniaTile::chunks);
  const std::int64_t r = s.next() + std::int64_t{blockIdx.y} * tile + row;

  // Main loop
  for (int i = tiles.begin; i < tiles.end; ++i) {
    held.store(beside, thread);
    if (walks) held = HeldTile(s, i + 1, tiles.end, thread);
    __syncthreads();
    const std::int64_t c = s.next() + std::int64_t{i} * tile + column;
    if (r < s.m.rows && c < s.m.columns) s.m.at(r, c) -= inner_product(below, beside, row, column);
    if (walks) __syncthreads();  // the tile has been read
  }
}

template <class Schedule>
ConfigOf<Problem> rodinia_through_registers() {
  return rodinia_config<Schedule>(rodinia_diagonal, rodinia_perimeter, rodinia_internal<Schedule>,
                                  1, 2 * RodiniaTile::bytes);
}

}  // namespace
}  // namespace amasia::lud
