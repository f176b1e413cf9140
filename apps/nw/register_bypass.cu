// nw/register_bypass: ref goes from global to shared memory without a register on the way (Svedin
// et al., Algorithm 1), and is waited for at once.
//
// - iso: the original tile, copied in 16-byte pieces.
// - bands: movers ask for a stage and wait for it in the same period: with one period of the walker
// to hide it, a latency under load is just about covered.
#include "apps/nw/async_stages.cuh"
#include "apps/nw/diagonals.cuh"
#include "variants/copies/tile_by_cp_async.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {
namespace {

__global__ void __launch_bounds__(Iso::threads) diagonal(DiagonalRun run) {
  __shared__ Scores scores;
  __shared__ alignas(16) int ref[Iso::tile][Iso::tile];
  const std::int64_t column = run.first_column + blockIdx.x;
  const Tile16 tile(run, run.diagonal - column, column);
  async::copy_tile<Tile<int, Iso::tile, Iso::tile>, Iso::threads>(
      &ref[0][0], run.ref, {tile.row, tile.column}, threadIdx.x);
  async::commit();
  const Borders borders(run, tile);
  borders.store(scores, tile);
  async::wait<0>();
  __syncthreads();
  WholeRef source{ref};
  sweep(scores, source, run.penalty);
  store_scores(scores, run, tile);
}

template <class B>
__global__ void __launch_bounds__(band_threads) bands(BandRun run) {
  extern __shared__ __align__(128) unsigned char memory[];
  move_bands<B, AsyncLoader<B, 0>>(run, *reinterpret_cast<StageMemory<B>*>(memory));
}

template <class B>
ConfigOf<Problem> config(const char* name) {
  return bands_config<B>(name, bands<B>, band_threads, sizeof(StageMemory<B>), 1);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::register_bypass,
    {diagonals_config(diagonal, sizeof(int) * Iso::tile * Iso::tile), config<Bands<4>>("bands-4")});

}  // namespace
}  // namespace amasia::nw
