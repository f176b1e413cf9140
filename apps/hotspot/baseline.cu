// hotspot/baseline: every cell goes global -> register -> shared, and a barrier makes it visible.
// What a plain copy can do about latency: issue the next tile's loads before this one is computed
// and let them wait in registers; or leave the loads to a producer warp, whose registers hold rows
// while the other warps compute.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/square.cuh"
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
  float kelvin = load_cell(v.temperature, tiles.origin()),
        watt = load_cell(v.power, tiles.origin());

  // Main loop
  while (!tiles.done()) {
    const TileCell cell(tiles.origin(), threadIdx.x, v.result.rows, v.result.columns);
    temperature[threadIdx.x] = kelvin;
    power[threadIdx.x] = watt;
    tiles.next();
    if (!tiles.done()) {
      kelvin = load_cell(v.temperature, tiles.origin());
      watt = load_cell(v.power, tiles.origin());
    }
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

// The producer's share of row-block n. As many rows are on their way at once as its registers hold.
template <class S>
__device__ void load_rows(BlockTile<S>& tile, const RowSource<S>& source, int n, int producer) {
  constexpr int chunks = (S::tile_chunks + lanes - 1) / lanes;  // of a lane, per row and array
  constexpr int spare = std::min(65536 / (S::threads * S::blocks_per_sm), 255) - 40;
  constexpr int rows = std::clamp(spare / (2 * columns_per_lane * chunks), 1, S::rows);
  const int first_column =
      source.inside.begin + static_cast<int>(threadIdx.x) % lanes * columns_per_lane;
  for (int first = producer; first < S::rows; first += rows * S::producer_warps) {
    float4 temperature[rows][chunks], power[rows][chunks];
    const auto each = [&](auto act) {
#pragma unroll
      for (int r = 0; r < rows; ++r) {
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
          const int i = first + r * S::producer_warps, column = first_column + c * window;
          if (i < S::rows && column < source.inside.end) act(r, c, i, column);
        }
      }
    };
    each([&](int r, int c, int i, int column) {
      const std::int64_t from = source.offset(n, i) + column;
      temperature[r][c] = *reinterpret_cast<const float4*>(source.temperature + from);
      power[r][c] = *reinterpret_cast<const float4*>(source.power + from);
    });
    each([&](int r, int c, int i, int column) {
      *reinterpret_cast<float4*>(&tile.temperature[i][column]) = temperature[r][c];
      *reinterpret_cast<float4*>(&tile.power[i][column]) = power[r][c];
    });
  }
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) baseline_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedStorage<S>*>(memory);
  const Place<S> place(pass);
  if constexpr (S::producer_warps == 0) {
    HeldAhead<S> pipeline(shared, pass, place);
    stream<S>(pipeline, place.run.blocks, pass);
  } else if (threadIdx.x < S::computing_threads) {
    HandedOver<S> pipeline(shared, pass, place);
    stream<S>(pipeline, place.run.blocks, pass);
  } else {
    const RowSource<S> source(pass, place);
    const auto start = [&](BlockTile<S>& tile, int n, int producer) {
      load_rows<S>(tile, source, n, producer);
    };
    produce<0>(shared, place, start, [] {});
  }
}

struct Kernels {
  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(baseline_strip<S>), S::threads, sizeof(SharedStorage<S>),
            1, sizeof(BlockTile<S>)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    return enqueue_pass<S>(baseline_strip<S>, problem, pass, device, sizeof(SharedStorage<S>));
  }
};

std::vector<ConfigOf<Problem>> configs() {
  std::vector<ConfigOf<Problem>> all{
      pyramid<OneTile<>>(baseline_pyramid<OneTile<>>, 1, 2 * PyramidTile::bytes)};
  add_streaming<Kernels, Movement<1>>(all);
  add_streaming<Kernels, Movement<2, StageRows::some, 4>, std::tuple<EightWarpsShort>>(all,
                                                                                       "/producer");
  add_streaming<Kernels, Movement<3, StageRows::some, 4>, std::tuple<EightWarpsShort>>(
      all, "/producer-3-stages");
  all.push_back(pyramid<Walk<>>(baseline_pyramid<Walk<>>, 1, 2 * PyramidTile::bytes));
  all.push_back(squares(baseline_square));
  return all;
}

const bool registered = register_variant<Problem>("hotspot", Strategy::baseline, configs());

}  // namespace
}  // namespace amasia::hotspot
