// hotspot/register_bypass: baseline's tiles and barriers, but cp.async carries the data from global
// to shared memory without passing through registers (Svedin et al. 2021, algorithm 1). The wait
// follows at once, so what changes is the register file and the instruction count, not the latency.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/stream.cuh"
#include "variants/copies/tile_by_cp_async.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {
namespace {

// iso: half of the threads copy temperatures, half powers, 8 bytes each.
__global__ void __launch_bounds__(tile_threads) register_bypass_pyramid(PyramidView v) {
  __shared__ alignas(16) float temperature[tile_threads];  // (16, 16)
  __shared__ alignas(16) float power[tile_threads];
  const TileOrigin origin = pyramid_origin(blockIdx.y, blockIdx.x);
  async::copy_tile<PyramidTile, tile_threads>(temperature, v.temperature, origin, threadIdx.x);
  async::copy_tile<PyramidTile, tile_threads>(power, v.power, origin,
                                              threadIdx.x ^ PyramidTile::chunks);
  async::commit();
  async::wait<0>();
  __syncthreads();
  const TileCell cell(origin, threadIdx.x, v.result.rows, v.result.columns);
  const float value = climb(temperature, source_term(power[threadIdx.x], v.coefficients), cell,
                            v.steps, v.coefficients);
  if (cell.finishes) v.result.at(cell.row, cell.column) = value;
}

// best: one row-block at a time; without registers held for it, the copy can only start once the
// tile is free.
template <class S>
struct PastRegisters : TileReader<S> {
  ChunkSource<S> source;
  const Place<S>& place;
  int columns;

  __device__ PastRegisters(BlockTile<S>* tile, const PassView& pass, const Place<S>& where)
      : TileReader<S>(pass, where),
        source(pass, where),
        place(where),
        columns(static_cast<int>(pass.result.columns)) {
    this->current = tile;
  }
  __device__ void acquire(int n) {
    __syncthreads();  // the previous row-block has been read
    copy_row_block(*this->current, source, n);
    async::commit();
    async::wait<0>();
    __syncthreads();
    if (place.at_edge) {
      this->current->mirror_columns(place.first_column, columns);
      __syncthreads();
    }
  }
  __device__ void release(int) {}
};

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    register_bypass_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Place<S> place(pass);
  PastRegisters<S> mover(reinterpret_cast<BlockTile<S>*>(shared), pass, place);
  stream<S>(mover, place.run.blocks, pass.coefficients);
}

struct Kernels {
  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(register_bypass_strip<S>), S::threads,
            sizeof(BlockTile<S>), 1, sizeof(BlockTile<S>)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    return enqueue_pass<S>(register_bypass_strip<S>, problem, pass, device, sizeof(BlockTile<S>));
  }
};

ConfigOf<Problem> iso() {
  ConfigOf<Problem> config;
  config.info = {"iso",
                 pyramid_geometry,
                 {{reinterpret_cast<const void*>(register_bypass_pyramid), tile_threads, 0, 1,
                   2 * PyramidTile::bytes}}};
  config.prepare = [](const Problem& problem, const Device&) {
    const LaunchShape shape{pyramid_grid(problem), dim3(tile_threads)};
    return climb_in_passes(problem, [shape](const PyramidView& view) -> Launch {
      return [=](Stream stream) { launch(register_bypass_pyramid, shape, stream, view); };
    });
  };
  return config;
}

const bool registered =
    register_variant<Problem>("hotspot", Strategy::register_bypass,
                              {iso(), streaming<Kernels, 4, 1, 1, 2, 5, 10, 12>("4-warps"),
                               streaming<Kernels, 8, 1, 1, 2, 5, 10, 12>("8-warps"),
                               streaming<Kernels, 4, 1, 1, 2, 5, 8>("4-warps-8-steps")});

}  // namespace
}  // namespace amasia::hotspot
