// The diagonal and the perimeter of iso with whole tiles that are waited for at once: through
// registers, as in Rodinia, or by cp.async. Overlap has the latter as well, because one block with
// one tile each has nothing to overlap.
#pragma once

#include "apps/lud/rodinia.cuh"
#include "variants/copies/tile.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::lud {
namespace {

struct TilesThroughRegisters {
  static __device__ void bring(float* to, const RodiniaStep& s, TileOrigin from, int lane) {
    baseline::copy_tile<RodiniaTile, 32>(to, s.source(), from, lane);
  }
  static __device__ void wait() {}
};
struct TilesByCpAsync {
  static __device__ void bring(float* to, const RodiniaStep& s, TileOrigin from, int lane) {
    async::copy_tile<RodiniaTile, 32>(to, s.source(), from, lane);
  }
  static __device__ void wait() {
    async::commit();
    async::wait<0>();
  }
};

template <class Tiles>
__global__ void __launch_bounds__(32) rodinia_diagonal(RodiniaStep s) {
  __shared__ alignas(16) float own[tile_elements];
  const int lane = threadIdx.x;
  Tiles::bring(own, s, {s.first, s.first}, lane);
  Tiles::wait();
  __syncthreads();
  factor_tile(own, s.size(), lane);
  store_rows(s, {s.first, s.first}, own, lane, 32);
}

template <class Tiles>
__global__ void __launch_bounds__(32) rodinia_perimeter(RodiniaStep s) {
  __shared__ alignas(16) float diagonal_tile[tile_elements];
  __shared__ alignas(16) float beside[tile_elements];
  __shared__ alignas(16) float below[tile_elements];
  const int lane = threadIdx.x, i = static_cast<int>(blockIdx.x);
  Tiles::bring(diagonal_tile, s, {s.first, s.first}, lane);
  Tiles::bring(beside, s, s.beside(i), lane);
  Tiles::bring(below, s, s.below(i), lane);
  Tiles::wait();
  __syncthreads();
  solve_perimeter(diagonal_tile, beside, below, lane);
  __syncthreads();
  store_rows(s, s.beside(i), beside, lane, 32);
  store_rows(s, s.below(i), below, lane, 32);
}

/// The config of an internal kernel with these.
template <class Schedule, class Tiles, class Internal>
ConfigOf<Problem> rodinia_with(Internal internal, int stages) {
  return rodinia_config<Schedule>(rodinia_diagonal<Tiles>, rodinia_perimeter<Tiles>, internal,
                                  stages, 2 * RodiniaTile::bytes);
}

}  // namespace
}  // namespace amasia::lud
