// srad/baseline: pixels go global -> register, and in iso on to shared memory, where a barrier
// makes them visible. In strips the lanes that compute hold the next rows in registers: nobody else
// wants them but the neighbours, who ask by shuffle.
#include "apps/srad/iso.cuh"
#include "apps/srad/stream.cuh"
#include "variants/copies/tile.cuh"

namespace amasia::srad {
namespace {

__global__ void __launch_bounds__(tile_threads) baseline_coefficients(IsoView v) {
  __shared__ alignas(16) float pixels[PixelTile::elements];  // (18, 24)
  const Cell cell(v);
  baseline::copy_tile<PixelTile, tile_threads>(pixels, v.source, cell.pixels(), threadIdx.x);
  __syncthreads();
  coefficient_of(v, cell, pixels).store(v, cell);
}

__global__ void __launch_bounds__(tile_threads) baseline_update(IsoView v) {
  __shared__ alignas(16) float c[CoefficientTile::elements];  // (17, 20)
  const Cell cell(v);
  baseline::copy_tile<CoefficientTile, tile_threads>(c, readable(v.coefficient),
                                                     cell.coefficients(), threadIdx.x);
  Gradient d{};
  float pixel = 0;
  if (cell.inside) {
    d = {v.north.at(cell.row, cell.column), v.south.at(cell.row, cell.column),
         v.west.at(cell.row, cell.column), v.east.at(cell.row, cell.column)};
    pixel = v.source.at(cell.row, cell.column);
  }
  __syncthreads();
  const float* own = c + cell.y * CoefficientTile::columns + cell.x;
  store_pixel(v, cell, next_pixel(v, cell, pixel, d, *own, own[CoefficientTile::columns], own[1]));
}

// Four rows in the registers that compute, four on their way.
struct HeldRows {
  static constexpr int stage_rows = 4, stages = 1, l2_ahead = 0, cluster = 1;
  static constexpr std::size_t shared_bytes = 0, bytes_in_flight = stage_rows * sizeof(TileRow);

  template <bool UPWARDS>
  struct Mover {
    const StripView& view;
    const Place& place;
    float4 now[stage_rows], next[stage_rows];

    __device__ Mover(unsigned char*, const StripView& v, const Place& p) : view(v), place(p) {
      load(0);
    }
    __device__ void load(int n) {
      if (n * stage_rows >= place.row_count) return;
#pragma unroll
      for (int i = 0; i < stage_rows; ++i) {
        next[i] = *reinterpret_cast<const float4*>(
            lane_pixels(view.source, place.row<UPWARDS>(n * stage_rows + i), place.column));
      }
    }
    __device__ void wait(int n) {
#pragma unroll
      for (int i = 0; i < stage_rows; ++i) now[i] = next[i];
      load(n + 1);
    }
    __device__ float4 row(int, int i) const { return now[i]; }
    __device__ void release(int) {}
    __device__ void finish() {}
  };
};

std::vector<ConfigOf<Problem>> baseline_configs() {
  std::vector<ConfigOf<Problem>> all{iso(baseline_coefficients, baseline_update)};
  add_strips<HeldRows>(all);
  return all;
}

const bool baseline_registered =
    register_variant<Problem>("srad", Strategy::baseline, baseline_configs());

}  // namespace
}  // namespace amasia::srad
