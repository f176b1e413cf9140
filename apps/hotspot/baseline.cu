// hotspot/baseline: every tile goes global -> register -> shared, then a block barrier, then the
// computation. While a block loads it does not compute; other blocks on the SM hide the latency, or
// registers that hold the next row-block.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/stream.cuh"
#include "variants/copies/tile_through_registers.cuh"

namespace amasia::hotspot {
namespace {

// iso: Rodinia's kernel. One tile per block.
__global__ void __launch_bounds__(tile_threads) baseline_pyramid(PyramidView v) {
  __shared__ alignas(16) float temperature[tile_threads];  // (16, 16)
  __shared__ alignas(16) float power[tile_threads];
  const TileOrigin origin = pyramid_origin(blockIdx.y, blockIdx.x);
  baseline::copy_tile<Tile<float, tile_size, tile_size, 4>, tile_threads>(
      temperature, v.temperature, origin, threadIdx.x);
  baseline::copy_tile<Tile<float, tile_size, tile_size, 4>, tile_threads>(power, v.power, origin,
                                                                          threadIdx.x);
  __syncthreads();
  const TileCell cell(origin, threadIdx.x, v.result.rows, v.result.columns);
  const float value = climb(temperature, source_term(power[threadIdx.x], v.coefficients), cell,
                            v.steps, v.coefficients);
  if (cell.finishes) v.result.at(cell.row, cell.column) = value;
}

// best: one row-block at a time. All loads of a row-block are issued before the barrier that frees
// the tile, so one latency is paid per row-block; with AHEAD not even that, because the next
// row-block waits in registers while this one is computed: what a baseline can do about latency
// without cp.async, for 8 registers per row.
template <class S, bool AHEAD>
struct ThroughRegisters : TileReader<S> {
  ChunkSource<S> source;
  const Place<S>& place;
  int columns;
  float4 held_temperature[S::rows], held_power[S::rows];  // loaded, not yet in the tile

  __device__ ThroughRegisters(BlockTile<S>* tile, const PassView& pass, const Place<S>& where)
      : TileReader<S>(pass, where),
        source(pass, where),
        place(where),
        columns(static_cast<int>(pass.result.columns)) {
    this->current = tile;
    if (AHEAD) load(0);
  }
  __device__ void load(int n) {
    if (source.inside <= 0 || n >= place.run.blocks) return;
#pragma unroll
    for (int i = 0; i < S::rows; ++i) {
      held_temperature[i] =
          *reinterpret_cast<const float4*>(source.temperature + source.offset(n, i));
      held_power[i] = *reinterpret_cast<const float4*>(source.power + source.offset(n, i));
    }
  }
  __device__ void acquire(int n) {
    if (!AHEAD) load(n);
    __syncthreads();  // the previous row-block has been read
    if (source.inside > 0) {
#pragma unroll
      for (int i = 0; i < S::rows; ++i) {
        const int chunk = threadIdx.x * columns_per_lane;
        *reinterpret_cast<float4*>(&this->current->temperature[i][chunk]) = held_temperature[i];
        *reinterpret_cast<float4*>(&this->current->power[i][chunk]) = held_power[i];
      }
    }
    if (AHEAD) load(n + 1);
    __syncthreads();
    if (place.at_edge) {
      this->current->mirror_columns(place.first_column, columns);
      __syncthreads();
    }
  }
  __device__ void release(int) {}
};

template <class S, bool AHEAD>
__global__ void __launch_bounds__(S::threads) baseline_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Place<S> place(pass);
  ThroughRegisters<S, AHEAD> mover(reinterpret_cast<BlockTile<S>*>(shared), pass, place);
  stream<S>(mover, place.run.blocks, pass.coefficients);
}

template <bool AHEAD>
struct Kernels {
  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(baseline_strip<S, AHEAD>), S::threads,
            sizeof(BlockTile<S>), 1, sizeof(BlockTile<S>)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    return enqueue_pass<S>(baseline_strip<S, AHEAD>, problem, pass, device, sizeof(BlockTile<S>));
  }
};

ConfigOf<Problem> iso() {
  ConfigOf<Problem> config;
  config.info = {"iso",
                 pyramid_geometry,
                 {{reinterpret_cast<const void*>(baseline_pyramid), tile_threads, 0, 1,
                   2 * PyramidTile::bytes}}};
  config.prepare = [](const Problem& problem, const Device&) {
    const LaunchShape shape{pyramid_grid(problem), dim3(tile_threads)};
    return climb_in_passes(problem, [shape](const PyramidView& view) -> Launch {
      return [=](Stream stream) { launch(baseline_pyramid, shape, stream, view); };
    });
  };
  return config;
}

const bool registered = register_variant<Problem>(
    "hotspot", Strategy::baseline,
    {iso(), streaming<Kernels<true>, 4, 1, 1, 2, 5, 10, 12>("4-warps-ahead"),
     streaming<Kernels<true>, 8, 1, 1, 2, 5, 10, 12>("8-warps-ahead"),
     streaming<Kernels<false>, 4, 1, 1, 2, 5, 10, 12>("4-warps"),
     streaming<Kernels<false>, 8, 1, 1, 2, 5, 10, 12>("8-warps"),
     streaming<Kernels<false>, 4, 1, 1, 2, 5, 8>("4-warps-8-steps")});

}  // namespace
}  // namespace amasia::hotspot
