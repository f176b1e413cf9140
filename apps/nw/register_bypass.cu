// nw/register_bypass: ref goes from global to shared memory without a register on the way (Svedin
// et al., Algorithm 1), and is waited for at once.
//
// - iso: the original tile, copied in 16-byte pieces.
// - bands: producer warps ask for a stage and wait for it in the same period: with one period of
//   the walker to hide it, a latency under load is just about covered.
#include "apps/nw/async_loaders.cuh"
#include "apps/nw/diagonals.cuh"
#include "variants/copies/tile.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {
namespace {

template <class Schedule>
__global__ void __launch_bounds__(tile16) diagonal(DiagonalRun run) {
  __shared__ TileSharedStorage<Schedule> shared;
  // Prologue: all that the block reads is asked for at once
  const Tile16 top = tile_of_block<Schedule>(run, 0);
  async::copy_tile<Tile<int, Schedule::tiles * tile16, tile16>, tile16>(
      &shared.ref[0][0][0], run.ref, top.origin(), threadIdx.x);
  async::commit();
  const Borders<Schedule::tiles> borders(run, top);
  borders.store(shared.scores);
  async::wait<0>();
  __syncthreads();
  // Main loop, Epilogue
  sweep_tiles<Schedule>(
      run, shared.scores, borders, [&](int n) { return WholeRef{shared.ref[n]}; },
      [&](int, const Tile16& tile) { store_scores(shared.scores, run, tile); });
}

template <class Schedule>
ConfigOf<Problem> tiles() {
  return diagonals_config<Schedule>("", diagonal<Schedule>, {{"stages", 1}}, sizeof(RefTile));
}

const bool registered =
    register_variant<Problem>("nw", Strategy::register_bypass,
                              {tiles<Iso>(), async_columns<7, 0>("7-stages"),
                               async_bands<2, 4, 0, 6>("6-warps-pairs"), tiles<IsoPairs>()});

}  // namespace
}  // namespace amasia::nw
