// hotspot/overlap: a ring of tiles per block; while one is computed, cp.async fetches the next ones
// (Svedin et al. 2021, algorithm 2). One block barrier per tile serves both ends: it makes the
// oldest stage visible to the block and proves that the stage read before it is free for the next
// copy.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/stream.cuh"
#include "variants/copies/tile_by_cp_async.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {
namespace {

// iso: as many blocks as fit walk Rodinia's tiles, two stages each.
inline constexpr int pyramid_stages = 2;

__global__ void __launch_bounds__(tile_threads)
    overlap_pyramid(PyramidView v, unsigned across, unsigned tiles) {
  __shared__ alignas(16) float temperature[pyramid_stages][tile_threads];  // (stages, 16, 16)
  __shared__ alignas(16) float power[pyramid_stages][tile_threads];
  const auto prefetch = [&](unsigned tile, int stage) {
    if (tile < tiles) {
      const TileOrigin origin = pyramid_origin(tile / across, tile % across);
      async::copy_tile<PyramidTile, tile_threads>(temperature[stage], v.temperature, origin,
                                                  threadIdx.x);
      async::copy_tile<PyramidTile, tile_threads>(power[stage], v.power, origin,
                                                  threadIdx.x ^ PyramidTile::chunks);
    }
    async::commit();  // an empty group past the last tile keeps the count right
  };

  prefetch(blockIdx.x, 0);
  int stage = 0;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x, stage ^= 1) {
    async::wait<0>();
    __syncthreads();
    prefetch(tile + gridDim.x, stage ^ 1);
    const TileCell cell(pyramid_origin(tile / across, tile % across), threadIdx.x, v.result.rows,
                        v.result.columns);
    const float value =
        climb(temperature[stage], source_term(power[stage][threadIdx.x], v.coefficients), cell,
              v.steps, v.coefficients);
    if (cell.finishes) v.result.at(cell.row, cell.column) = value;
  }
}

// best: the ring holds row-blocks of the strip.
template <class S>
struct Ring : TileReader<S> {
  BlockTile<S>* tiles;  // (stages)
  ChunkSource<S> source;
  const Place<S>& place;
  int columns;
  int stage = 0;

  __device__ Ring(BlockTile<S>* ring, const PassView& pass, const Place<S>& where)
      : TileReader<S>(pass, where),
        tiles(ring),
        source(pass, where),
        place(where),
        columns(static_cast<int>(pass.result.columns)) {
#pragma unroll
    for (int n = 0; n < S::stages - 1; ++n) prefetch(n, n);
  }
  __device__ void prefetch(int n, int into) {
    if (n < place.run.blocks) copy_row_block(tiles[into], source, n);
    async::commit();  // an empty group past the last row-block keeps the count right
  }
  __device__ void acquire(int n) {
    async::wait<S::stages - 2>();
    __syncthreads();
    prefetch(n + S::stages - 1, stage == 0 ? S::stages - 1 : stage - 1);
    this->current = tiles + stage;
    if (place.at_edge) {
      this->current->mirror_columns(place.first_column, columns);
      __syncthreads();
    }
  }
  __device__ void release(int) { stage = stage == S::stages - 1 ? 0 : stage + 1; }
};

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) overlap_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Place<S> place(pass);
  Ring<S> mover(reinterpret_cast<BlockTile<S>*>(shared), pass, place);
  stream<S>(mover, place.run.blocks, pass.coefficients);
}

struct Kernels {
  template <class S>
  static constexpr std::size_t shared_bytes() {
    return S::stages * sizeof(BlockTile<S>);
  }

  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(overlap_strip<S>), S::threads, shared_bytes<S>(), 1,
            (S::stages - 1) * sizeof(BlockTile<S>)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    return enqueue_pass<S>(overlap_strip<S>, problem, pass, device, shared_bytes<S>());
  }
};

ConfigOf<Problem> iso() {
  ConfigOf<Problem> config;
  config.info = {"iso",
                 pyramid_geometry,
                 {{reinterpret_cast<const void*>(overlap_pyramid), tile_threads, 0, 1,
                   2 * PyramidTile::bytes}}};
  config.info.geometry.push_back({"stages", pyramid_stages});
  config.prepare = [](const Problem& problem, const Device& device) {
    const dim3 tiles = pyramid_grid(problem);
    const unsigned count = tiles.x * tiles.y;
    LaunchShape shape{dim3(1), dim3(tile_threads)};
    const int resident =
        resident_blocks(reinterpret_cast<const void*>(overlap_pyramid), shape, device.sm_count);
    shape.grid.x = std::min(count, static_cast<unsigned>(resident));
    return climb_in_passes(problem, [=](const PyramidView& view) -> Launch {
      return [=](Stream stream) { launch(overlap_pyramid, shape, stream, view, tiles.x, count); };
    });
  };
  return config;
}

const bool registered =
    register_variant<Problem>("hotspot", Strategy::overlap,
                              {iso(), streaming<Kernels, 8, 2, 1, 2, 5, 10, 12>("8-warps"),
                               streaming<Kernels, 4, 2, 1, 2, 5, 10, 12>("4-warps"),
                               streaming<Kernels, 4, 2, 1, 2, 5, 8>("4-warps-8-steps")});

}  // namespace
}  // namespace amasia::hotspot
