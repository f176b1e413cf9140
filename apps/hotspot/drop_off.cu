// hotspot/drop_off: each thread has slots of its own for the cells that only it reads, and waits
// for its own copies alone (Svedin et al. 2021, algorithm 3): no block barrier stands between
// arrival and use. The streaming schedule suits it well, because a lane's neighbours' cells come by
// shuffle: everything a lane loads is private. The price is that the halo columns of neighbouring
// warps are fetched twice.
#include "apps/hotspot/pyramid.cuh"
#include "apps/hotspot/slots.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::hotspot {
namespace {

// iso: blocks walk Rodinia's tiles; a thread's own cell of the next tile is in flight. Temperatures
// are then published to the block, in alternating tiles so that one barrier per exchange is enough.
__global__ void __launch_bounds__(tile_threads)
    drop_off_pyramid(PyramidView v, unsigned across, unsigned tiles) {
  __shared__ float temperature[2][tile_threads];  // (slots, threads): private
  __shared__ float power[2][tile_threads];        // (slots, threads): private
  __shared__ float exchange[2][tile_threads];     // (2, 16, 16): shared by the block
  const auto cell_of = [&](unsigned tile) {
    return TileCell(pyramid_origin(tile / across, tile % across), threadIdx.x, v.result.rows,
                    v.result.columns);
  };
  const auto prefetch = [&](unsigned tile, int slot) {
    if (tile < tiles) {
      const TileCell cell = cell_of(tile);
      const bool inside = cell.row >= 0 && cell.row < v.result.rows && cell.column >= 0 &&
                          cell.column < v.result.columns;
      const std::int64_t offset = inside ? cell.row * v.result.pitch + cell.column : 0;
      async::copy<4>(&temperature[slot][threadIdx.x], v.temperature.data + offset, inside ? 4 : 0);
      async::copy<4>(&power[slot][threadIdx.x], v.power.data + offset, inside ? 4 : 0);
    }
    async::commit();
  };

  prefetch(blockIdx.x, 0);
  int slot = 0;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x, slot ^= 1) {
    prefetch(tile + gridDim.x, slot ^ 1);
    async::wait<1>();  // this thread's own cells, nobody else's
    const float source = source_term(power[slot][threadIdx.x], v.coefficients);
    exchange[slot][threadIdx.x] = temperature[slot][threadIdx.x];
    __syncthreads();  // the stencil's exchange, not the copy's
    const TileCell cell = cell_of(tile);
    const float value = climb(exchange[slot], source, cell, v.steps, v.coefficients);
    if (cell.finishes) v.result.at(cell.row, cell.column) = value;
  }
}

// best: all that a lane loads, four columns of each row, is private (slots.cuh).
template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) drop_off_strip(PassView pass) {
  extern __shared__ __align__(128) unsigned char shared[];
  const Place<S> place(pass);
  Slots<S> mover(reinterpret_cast<typename Slots<S>::Slot*>(shared), pass, place.run,
                 place.lane_column(), place.lane_finishes());
  stream<S>(mover, place.run.blocks, pass.coefficients);
}

struct Kernels {
  template <class S>
  static constexpr std::size_t shared_bytes() {
    return S::stages * sizeof(typename Slots<S>::Slot);
  }

  template <class S>
  static KernelUse use() {
    return {reinterpret_cast<const void*>(drop_off_strip<S>), S::threads, shared_bytes<S>(), 1,
            (S::stages - 1) * sizeof(typename Slots<S>::Slot)};
  }
  template <class S>
  static Launch pass(const Problem& problem, const Pass& pass, const Device& device) {
    return enqueue_pass<S>(drop_off_strip<S>, problem, pass, device, shared_bytes<S>());
  }
};

ConfigOf<Problem> iso() {
  ConfigOf<Problem> config;
  config.info = {"iso",
                 pyramid_geometry,
                 {{reinterpret_cast<const void*>(drop_off_pyramid), tile_threads, 0, 1,
                   2 * PyramidTile::bytes}}};
  config.info.geometry.push_back({"stages", 2});
  config.prepare = [](const Problem& problem, const Device& device) {
    const dim3 tiles = pyramid_grid(problem);
    const unsigned count = tiles.x * tiles.y;
    LaunchShape shape{dim3(1), dim3(tile_threads)};
    const int resident =
        resident_blocks(reinterpret_cast<const void*>(drop_off_pyramid), shape, device.sm_count);
    shape.grid.x = std::min(count, static_cast<unsigned>(resident));
    return climb_in_passes(problem, [=](const PyramidView& view) -> Launch {
      return [=](Stream stream) { launch(drop_off_pyramid, shape, stream, view, tiles.x, count); };
    });
  };
  return config;
}

const bool registered =
    register_variant<Problem>("hotspot", Strategy::drop_off,
                              {iso(), streaming<Kernels, 8, 2, 1, 2, 5, 10, 12>("8-warps"),
                               streaming<Kernels, 4, 2, 1, 2, 5, 10, 12>("4-warps"),
                               streaming<Kernels, 8, 2, 1, 2, 5, 8>("8-warps-8-steps")});

}  // namespace
}  // namespace amasia::hotspot
