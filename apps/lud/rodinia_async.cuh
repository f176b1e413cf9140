// The diagonal and the perimeter of iso with tiles by cp.async, waited for at once:
// register_bypass's, and overlap's as well, because one block with one tile each has nothing to
// overlap.
#pragma once

#include "apps/lud/rodinia.cuh"
#include "variants/copies/tile_by_cp_async.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::lud {
namespace {

__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ alignas(16) float own[tile_elements];
  const int lane = threadIdx.x;
  async::copy_tile<RodiniaTile, 32>(own, s.source(), {s.first, s.first}, lane);
  async::commit();
  async::wait<0>();
  __syncthreads();
  factor_tile(own, s.size(), lane);
  store_rows(s, {s.first, s.first}, own, lane, 32);
}

__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s) {
  __shared__ alignas(16) float diagonal_tile[tile_elements];
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  async::copy_tile<RodiniaTile, 32>(diagonal_tile, s.source(), {s.first, s.first}, lane);
  async::copy_tile<RodiniaTile, 32>(beside, s.source(), s.beside(i), lane);
  async::copy_tile<RodiniaTile, 32>(below, s.source(), s.below(i), lane);
  async::commit();
  async::wait<0>();
  __syncthreads();
  solve_perimeter(diagonal_tile, beside, below, lane);
  __syncthreads();
  store_rows(s, s.beside(i), beside, lane, 32);
  store_rows(s, s.below(i), below, lane, 32);
}

}  // namespace
}  // namespace amasia::lud
