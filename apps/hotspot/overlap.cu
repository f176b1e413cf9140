// hotspot/overlap: while a block computes one tile, cp.async fetches the next (Svedin et al. 2021,
// algorithm 2, corrected: docs/papers.md). Where the warps that compute copy, one block barrier per
// row-block serves both ends: it makes the oldest stage visible to the block and proves that the
// stage read before it is free.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/tiles.cuh"

namespace amasia::hotspot {
namespace {

// iso has one tile per block: what can be in flight during its computation is the power, which the
// first step needs only after it has read its neighbours' temperatures. iso-walk: the next tile,
// too.
template <class Tiles>
__global__ void __launch_bounds__(tile_threads) overlap_pyramid(PyramidView v) {
  constexpr int stages = Tiles::walks ? 2 : 1;
  __shared__ float temperature[stages][tile_threads];  // (stages, 16, 16)
  __shared__ float power[stages][tile_threads];
  const auto copy = [&](const Tiles& tiles, int stage) {
    const OwnCopies cell(v, tiles);
    cell.copy(&temperature[stage][threadIdx.x], v.temperature);
    async::commit();
    cell.copy(&power[stage][threadIdx.x], v.power);
    async::commit();
  };

  // Prologue
  Tiles tiles(v);
  copy(tiles, 0);

  // Main loop
  for (PipelineState<stages> state; !tiles.done(); ++state) {
    const TileCell cell(tiles.origin(), threadIdx.x, v.result.rows, v.result.columns);
    async::wait<Tiles::walks ? 0 : 1>();
    __syncthreads();  // the temperatures have arrived, and the other stage has been read
    tiles.next();
    if (Tiles::walks) copy(tiles, state.index ^ 1);
    const auto source = [&] {
      if (!Tiles::walks) {
        async::wait<0>();
        __syncthreads();
      }
      return source_term(power[state.index][threadIdx.x], v.coefficients);
    };
    const float value = climb(temperature[state.index], cell, v.steps, v.coefficients, source);
    if (cell.finishes) v.result.at(cell.row, cell.column) = value;
  }
}

// 64x64: as in iso, the power travels while the first step exchanges temperatures.
__global__ void __launch_bounds__(square_threads, squares_bound) overlap_square(SquareView v) {
  __shared__ SquareTile temperature, power;
  __shared__ SquareEdges edges;
  const Square s(v);
  copy_square(temperature, v.temperature, s);
  async::commit();
  copy_square(power, v.power, s);
  async::commit();
  async::wait<1>();
  __syncthreads();
  float4 kelvin[patch];
#pragma unroll
  for (int i = 0; i < patch; ++i) kelvin[i] = temperature.rows[s.y * patch + i][s.x];
  advance_square(edges, s, v, kelvin, [&](int i) {
    if (i == 0) {
      async::wait<0>();
      __syncthreads();
    }
    return power.rows[s.y * patch + i][s.x];
  });
}

// Streaming: the warps that compute also copy.
template <class S>
struct CopiedAhead : TileReader<S> {
  ChunkSource<S> source;
  const PassView& pass;

  __device__ CopiedAhead(SharedStorage<S>& shared, const PassView& view, const Place<S>& place)
      : TileReader<S>(shared, view, place), source(view, place), pass(view) {
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) copy(n, PipelineState<S::stages>::after(n));
  }
  __device__ void copy(int n, PipelineState<S::stages> into) {
    if (n < this->place.run.blocks) {
      copy_row_block(this->shared.stages[into.index], source, this->place.run.first + n * S::rows,
                     pass, this->place);
    }
    async::commit();  // an empty group past the last row-block keeps the count right
  }
  __device__ void consumer_wait(int n) {
    async::wait<S::stages - 2>();
    __syncthreads();
    copy(n + S::stages - 1, this->state.before());
  }
  __device__ void consumer_release(int) { ++this->state; }
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(pyramid<OneTile<>>(overlap_pyramid<OneTile<>>, 1, 2 * PyramidTile::bytes));
  for (const Start start : starts) all.push_back(squares(start, overlap_square));
  add_streaming<TileKernels<CopiedAhead>, Movement<2>>(all);
  add_streaming<TileKernels<CopiedAhead>, Movement<2, StageRows::period>, std::tuple<EightWarps>>(
      all, "/period");
  all.push_back(pyramid<Walk<>>(overlap_pyramid<Walk<>>, 2, 2 * PyramidTile::bytes));
  return all;
}

const bool registered = register_variant<Problem>("hotspot", Strategy::overlap, configs());

}  // namespace
}  // namespace amasia::hotspot
