// hotspot/register_bypass: baseline's tiles and barriers, but cp.async carries the data from global
// to shared memory without passing through registers (Svedin et al. 2021, algorithm 1). The wait
// follows at once, so what changes is the register file and the instruction count, not the latency;
// row-blocks of a whole period of the schedule are waited for less often.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/tiles.cuh"

namespace amasia::hotspot {
namespace {

// iso, iso-walk: each thread copies its own two cells.
template <class Tiles>
__global__ void __launch_bounds__(tile_threads) register_bypass_pyramid(PyramidView v) {
  __shared__ float temperature[tile_threads];  // (16, 16)
  __shared__ float power[tile_threads];

  // Main loop
  for (Tiles tiles(v); !tiles.done(); tiles.next()) {
    const OwnCopies own(v, tiles);
    own.copy(&temperature[threadIdx.x], v.temperature);
    own.copy(&power[threadIdx.x], v.power);
    async::commit();
    async::wait<0>();
    __syncthreads();
    const TileCell cell(tiles.origin(), threadIdx.x, v.result.rows, v.result.columns);
    const float value = climb(temperature, cell, v.steps, v.coefficients,
                              [&] { return source_term(power[threadIdx.x], v.coefficients); });
    if (cell.finishes) v.result.at(cell.row, cell.column) = value;
    if (Tiles::walks) __syncthreads();  // the tile has been read
  }
}

// 64x64: both squares, waited for at once.
__global__ void __launch_bounds__(square_threads, squares_bound)
    register_bypass_square(SquareView v) {
  __shared__ SquareTile temperature, power;
  __shared__ SquareEdges edges;
  const Square s(v);
  copy_square(temperature, v.temperature, s);
  copy_square(power, v.power, s);
  async::commit();
  async::wait<0>();
  __syncthreads();
  float4 kelvin[patch];
#pragma unroll
  for (int i = 0; i < patch; ++i) kelvin[i] = temperature.rows[s.y * patch + i][s.x];
  advance_square(edges, s, v, kelvin, [&](int i) { return power.rows[s.y * patch + i][s.x]; });
}

// Streaming: one stage, so the copy can only start once it has been read.
template <class S>
struct WaitedFor : TileReader<S> {
  ChunkSource<S> source;
  const PassView& pass;

  __device__ WaitedFor(SharedStorage<S>& shared, const PassView& view, const Place<S>& place)
      : TileReader<S>(shared, view, place), source(view, place), pass(view) {}
  __device__ void consumer_wait(int n) {
    __syncthreads();  // the previous row-block has been read
    copy_row_block(this->shared.stages[0], source, this->place.run.first + n * S::rows, pass,
                   this->place);
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
  __device__ void consumer_release(int) {}
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(pyramid<OneTile<>>(register_bypass_pyramid<OneTile<>>, 1, 2 * PyramidTile::bytes));
  for (const Start start : starts) all.push_back(squares(start, register_bypass_square));
  add_streaming<TileKernels<WaitedFor>, Movement<1>>(all);
  add_streaming<TileKernels<WaitedFor>, Movement<1, StageRows::period>, std::tuple<FourWarps>>(
      all, "/period");
  all.push_back(pyramid<Walk<>>(register_bypass_pyramid<Walk<>>, 1, 2 * PyramidTile::bytes));
  return all;
}

const bool registered = register_variant<Problem>("hotspot", Strategy::register_bypass, configs());

}  // namespace
}  // namespace amasia::hotspot
