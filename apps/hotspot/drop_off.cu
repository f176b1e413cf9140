// hotspot/drop_off: each thread has slots of its own for the cells that only it reads, and waits
// for its own copies alone (Svedin et al. 2021, algorithm 3): no block barrier stands between
// arrival and use. The streaming schedules suit it well, because a lane's neighbours' cells come by
// shuffle: everything a lane loads is private. The price is that the halo columns of neighbouring
// warps are fetched twice. A producer warp cannot exist: nobody but the owner waits for a slot.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/slots.cuh"
#include "apps/hotspot/square.cuh"

namespace amasia::hotspot {
namespace {

// iso, iso-walk: a thread's own two cells. The temperature is published to the block as soon as it
// has arrived; the power stays private, and is in flight during the first step's exchange. Walking,
// so are both of the next tile, and published tiles alternate: one barrier per exchange is enough.
template <class Tiles>
__global__ void __launch_bounds__(tile_threads) drop_off_pyramid(PyramidView v) {
  constexpr int stages = Tiles::walks ? 2 : 1;
  constexpr int ahead = Tiles::walks ? 2 : 0;          // groups of the next tile
  __shared__ float temperature[stages][tile_threads];  // (slots, threads): private
  __shared__ float power[stages][tile_threads];        // (slots, threads): private
  __shared__ float published[stages][tile_threads];    // (stages, 16, 16): shared by the block
  const auto copy = [&](const Tiles& tiles, int slot) {
    const OwnCopies cell(v, tiles);
    cell.copy(&temperature[slot][threadIdx.x], v.temperature);
    async::commit();
    cell.copy(&power[slot][threadIdx.x], v.power);
    async::commit();
  };

  // Prologue
  Tiles tiles(v);
  copy(tiles, 0);

  // Main loop
  for (PipelineState<stages> state; !tiles.done(); ++state) {
    const TileCell cell(tiles.origin(), threadIdx.x, v.result.rows, v.result.columns);
    tiles.next();
    if (Tiles::walks) copy(tiles, state.index ^ 1);
    async::wait<ahead + 1>();  // this thread's own temperature, nobody else's
    published[state.index][threadIdx.x] = temperature[state.index][threadIdx.x];
    __syncthreads();  // the stencil's exchange, not the copy's
    const float value = climb(published[state.index], cell, v.steps, v.coefficients, [&] {
      async::wait<ahead>();  // its own power
      return source_term(power[state.index][threadIdx.x], v.coefficients);
    });
    if (cell.finishes) v.result.at(cell.row, cell.column) = value;
  }
}

// 64x64: a thread's patch in its own slots; the power travels during the first exchange.
__global__ void __launch_bounds__(square_threads, squares_bound) drop_off_square(SquareView v) {
  __shared__ float4 temperature[patch][square_threads];  // (rows, threads): private
  __shared__ float4 power[patch][square_threads];        // (rows, threads): private
  __shared__ SquareEdges edges;
  const Square s(v);
  const auto copy = [&](float4(&slots)[patch][square_threads], const Grid<const float>& grid) {
#pragma unroll
    for (int i = 0; i < patch; ++i) {
      if (s.inside(v, i)) async::copy<16>(&slots[i][threadIdx.x], grid.data + s.offset(v, i));
    }
    async::commit();
  };
  copy(temperature, v.temperature);
  copy(power, v.power);
  async::wait<1>();  // its own temperatures
  float4 kelvin[patch];
#pragma unroll
  for (int i = 0; i < patch; ++i) kelvin[i] = temperature[i][threadIdx.x];
  advance_square(edges, s, v, kelvin, [&](int i) {
    if (i == 0) async::wait<0>();  // its own powers
    return power[i][threadIdx.x];
  });
}

// Streaming: all that a lane loads, four columns of each row, is private (slots.cuh).
template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) drop_off_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char memory[];
  const Place<S> place(pass);
  Slots<S> pipeline(reinterpret_cast<typename Slots<S>::Slot*>(memory), pass, place.run,
                    place.lane_column(), place.lane_finishes());
  stream<S>(pipeline, place.run.blocks, pass);
}

struct Kernels : PlainKernels {
  template <class S>
  static auto kernel() {
    return drop_off_strip<S>;
  }
  template <class S>
  static constexpr std::size_t shared_bytes = S::stages * sizeof(typename Slots<S>::Slot);
  template <class S>
  static constexpr std::size_t in_flight = (S::stages - 1) * sizeof(typename Slots<S>::Slot);
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all;
  all.push_back(pyramid<OneTile<>>(drop_off_pyramid<OneTile<>>, 1, 2 * PyramidTile::bytes));
  for (const Start start : starts) all.push_back(squares(start, drop_off_square));
  add_streaming<Kernels, Movement<2>>(all);
  add_streaming<Kernels, Movement<2, StageRows::one>, std::tuple<EightWarpsShort>>(all, "/one-row");
  all.push_back(pyramid<Walk<>>(drop_off_pyramid<Walk<>>, 2, 2 * PyramidTile::bytes));
  return all;
}

const bool registered = register_variant<Problem>("hotspot", Strategy::drop_off, configs());

}  // namespace
}  // namespace amasia::hotspot
