// hotspot/baseline: every cell goes global -> register -> shared, and a barrier makes it visible.
// What a plain copy can do about latency: issue the next tile's loads before this one is computed
// and let them wait in registers.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/tiles.cuh"

namespace amasia::hotspot {
namespace {

// iso: Rodinia's kernel. iso-walk: a thread holds its two cells of the next tile meanwhile.
template <class Tiles>
__global__ void __launch_bounds__(tile_threads) baseline_pyramid(PyramidView v) {
  __shared__ float temperature[tile_threads];  // (16, 16)
  __shared__ float power[tile_threads];

  // Prologue
  Tiles tiles(v);
  float kelvin, watt;
  const auto load = [&] {
    const OwnCell own(v, tiles.origin());
    kelvin = own.load(v.temperature);
    watt = own.load(v.power);
  };
  load();

  // Main loop
  while (!tiles.done()) {
    const TileCell cell(tiles.origin(), threadIdx.x, v.result.rows, v.result.columns);
    temperature[threadIdx.x] = kelvin;
    power[threadIdx.x] = watt;
    tiles.next();
    if (!tiles.done()) load();
    __syncthreads();
    const float value = climb(temperature, cell, v.steps, v.coefficients,
                              [&] { return source_term(power[threadIdx.x], v.coefficients); });
    if (cell.finishes) v.result.at(cell.row, cell.column) = value;
    if (Tiles::walks) __syncthreads();  // the tile has been read
  }
}

// 64x64: straight into the registers that compute, one latency for both arrays.
__global__ void __launch_bounds__(square_threads) baseline_square(SquareView v) {
  __shared__ SquareEdges edges;
  const Square s(v);
  float4 kelvin[patch] = {}, watt[patch] = {};
#pragma unroll
  for (int i = 0; i < patch; ++i) {
    if (!s.inside(v, i)) continue;
    kelvin[i] = *reinterpret_cast<const float4*>(v.temperature.data + s.offset(v, i));
    watt[i] = *reinterpret_cast<const float4*>(v.power.data + s.offset(v, i));
  }
  advance_square(edges, s, v, kelvin, [&](int i) { return watt[i]; });
}

// Streaming: one stage; the next row-block is held in registers, 8 for each of its rows.
template <class S>
struct HeldAhead : TileReader<S> {
  ChunkSource<S> source;
  float4 temperatures[S::rows], powers[S::rows];

  __device__ HeldAhead(SharedStorage<S>& shared, const PassView& pass, const Place<S>& place)
      : TileReader<S>(shared, pass, place), source(pass, place) {
    load(0);
  }
  __device__ void load(int n) {
    if (!source.inside || n >= this->place.run.blocks) return;
    each_row<S, true>(this->place.run.first + n * S::rows, this->place.grid_rows, source.pitch,
                      [&](int i, std::int64_t offset) {
                        temperatures[i] =
                            *reinterpret_cast<const float4*>(source.temperature + offset);
                        powers[i] = *reinterpret_cast<const float4*>(source.power + offset);
                      });
    source.advance();
  }
  __device__ void consumer_wait(int n) {
    __syncthreads();  // the previous row-block has been read
    BlockTile<S>& tile = this->shared.stages[0];
    if (source.inside) {
      const int column = threadIdx.x * columns_per_lane;
#pragma unroll
      for (int i = 0; i < S::rows; ++i) {
        *reinterpret_cast<float4*>(&tile.temperature[i][column]) = temperatures[i];
        *reinterpret_cast<float4*>(&tile.power[i][column]) = powers[i];
      }
    }
    load(n + 1);
    __syncthreads();
    if (this->place.at_edge) {
      tile.mirror_columns(this->place);
      __syncthreads();
    }
  }
  __device__ void consumer_release(int) {}
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(pyramid<OneTile<>>(baseline_pyramid<OneTile<>>, 1, 2 * PyramidTile::bytes));
  for (const Start start : starts) all.push_back(squares(start, baseline_square));
  add_streaming<TileKernels<HeldAhead>, Movement<1>>(all);
  all.push_back(pyramid<Walk<>>(baseline_pyramid<Walk<>>, 1, 2 * PyramidTile::bytes));
  return all;
}

const bool registered = register_variant<Problem>("hotspot", Strategy::baseline, configs());

}  // namespace
}  // namespace amasia::hotspot
