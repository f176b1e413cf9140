// srad/tma: one thread names boxes of the image (iso) or runs of bytes (strips); an mbarrier counts
// what arrives. In iso the results leave as boxes, too: five of them in the first kernel.
#include "apps/srad/bulk_rows.cuh"
#include "apps/srad/iso.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/bulk.cuh"

namespace amasia::srad {
namespace {

/// Boxes of 16 x 16, but for those with neighbours.
struct IsoMaps {
  CUtensorMap pixels;         // (18, 24)
  CUtensorMap coefficients;   // (17, 20)
  CUtensorMap pixel, result;  // of the source; of the result
  CUtensorMap leaves[5];      // C, dN, dS, dW, dE: written by one kernel, read by the next
};

IsoMaps maps_of(const IsoView& v) {
  const auto box = [](const Grid<float>& g) { return tensor_map(readable(g), tile, tile); };
  return {tensor_map(v.source, PixelTile::rows, PixelTile::columns),
          tensor_map(readable(v.coefficient), CoefficientTile::rows, CoefficientTile::columns),
          tensor_map(v.source, tile, tile),
          box(v.result),
          {box(v.coefficient), box(v.north), box(v.south), box(v.west), box(v.east)}};
}

using Box = float[tile_threads];  // (16, 16)

__global__ void __launch_bounds__(tile_threads)
    tma_coefficients(IsoView v, const __grid_constant__ IsoMaps maps) {
  __shared__ alignas(128) float pixels[PixelTile::elements];  // (18, 24)
  __shared__ alignas(128) Box leaving[5];
  __shared__ tma::Barrier full;
  const Cell cell(v);
  if (threadIdx.x == 0) {
    tma::init(&full, 1);
    tma::fence_init();
    tma::expect(&full, PixelTile::bytes);
    tma::load_tile(pixels, &maps.pixels, cell.first_column - left, cell.first_row - 1, &full);
  }
  __syncthreads();  // the barrier is initialised
  tma::wait(&full, 0);
  const Coefficient result = coefficient_of(v, cell, pixels);
  leaving[0][threadIdx.x] = result.c;
  leaving[1][threadIdx.x] = result.d.north;
  leaving[2][threadIdx.x] = result.d.south;
  leaving[3][threadIdx.x] = result.d.west;
  leaving[4][threadIdx.x] = result.d.east;
  tma::fence_async_proxy();
  __syncthreads();  // the boxes are complete
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 5; ++i) {
    tma::store_tile(&maps.leaves[i], cell.first_column, cell.first_row, leaving[i]);
  }
  tma::commit_stores();
  tma::wait_stores_read<0>();  // shared memory must outlive the copies
}

__global__ void __launch_bounds__(tile_threads)
    tma_update(IsoView v, const __grid_constant__ IsoMaps maps) {
  __shared__ alignas(128) float c[CoefficientTile::elements];  // (17, 20)
  __shared__ alignas(128) Box own[5];                          // dN, dS, dW, dE, J
  __shared__ alignas(128) Box leaving;
  __shared__ tma::Barrier full;
  const Cell cell(v);
  if (threadIdx.x == 0) {
    tma::init(&full, 1);
    tma::fence_init();
    tma::expect(&full, CoefficientTile::bytes + sizeof own);
    tma::load_tile(c, &maps.coefficients, cell.first_column, cell.first_row, &full);
    for (int i = 0; i < 5; ++i) {
      tma::load_tile(own[i], i < 4 ? &maps.leaves[i + 1] : &maps.pixel, cell.first_column,
                     cell.first_row, &full);
    }
  }
  __syncthreads();  // the barrier is initialised
  tma::wait(&full, 0);
  const int t = static_cast<int>(threadIdx.x);
  const float* at = c + cell.y * CoefficientTile::columns + cell.x;
  const float pixel = next_pixel(v, cell, own[4][t], {own[0][t], own[1][t], own[2][t], own[3][t]},
                                 *at, at[CoefficientTile::columns], at[1]);
  leaving[t] = pixel;
  tma::fence_async_proxy();
  __syncthreads();  // the box is complete
  if (t == 0) {
    tma::store_tile(&maps.result, cell.first_column, cell.first_row, leaving);
    tma::commit_stores();
  }
  sum_pixel(v, cell, pixel);
  if (t == 0) tma::wait_stores_read<0>();  // shared memory must outlive the copy
}

Launch boxes(const Problem& p, const Device&) {
  const IsoMaps first = maps_of(iso_view(p, 0, 1)), later = maps_of(iso_view(p, 1, 1));
  return iso_launch(p, 1, [=](const IsoView& v, int i, const LaunchShape& shape, Stream stream) {
    launch(tma_coefficients, shape, stream, v, i == 0 ? first : later);
    launch(tma_update, shape, stream, v, i == 0 ? first : later);
  });
}

std::vector<ConfigOf<Problem>> tma_configs() {
  std::vector<ConfigOf<Problem>> all{iso(reinterpret_cast<const void*>(tma_coefficients),
                                         reinterpret_cast<const void*>(tma_update), boxes)};
  add_strips<BulkRows<0>>(all);
  add_strips<BulkRows<2>>(all, "/l2-ahead");
  return all;
}

const bool tma_registered = register_variant<Problem>("srad", Strategy::tma, tma_configs());

}  // namespace
}  // namespace amasia::srad
