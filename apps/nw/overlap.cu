// nw/overlap: what is needed next travels while this is computed (Svedin et al., Algorithm 2).
//
// - iso: one tile is all a block of the original has, so its rows are the stages: four groups of
// four rows, each waited for when the wavefront gets there.
// - bands: a ring of stages along the band; all that is not being computed or stored is in flight.
#include "apps/nw/async_stages.cuh"
#include "apps/nw/diagonals.cuh"
#include "variants/copies/tile_by_cp_async.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {
namespace {

struct RowGroups {
  const int (&ref)[Iso::tile][Iso::tile];
  __device__ void ready(int d) {
    if (d % 4 != 0 || d >= Iso::tile) return;
    if (d == 0) {
      async::wait<3>();
    } else if (d == 4) {
      async::wait<2>();
    } else if (d == 8) {
      async::wait<1>();
    } else {
      async::wait<0>();
    }
    __syncthreads();  // a thread reads what its neighbours have copied
  }
  __device__ int at(int r) const { return ref[r][threadIdx.x]; }
};

__global__ void __launch_bounds__(Iso::threads) diagonal(DiagonalRun run) {
  __shared__ Scores scores;
  __shared__ alignas(16) int ref[Iso::tile][Iso::tile];
  const std::int64_t column = run.first_column + blockIdx.x;
  const Tile16 tile(run, run.diagonal - column, column);
  using Rows = Tile<int, 4, Iso::tile>;  // 16 chunks: one per thread
  for (int r = 0; r < Iso::tile; r += Rows::rows) {
    async::copy_tile<Rows, Iso::threads>(ref[r], run.ref, {tile.row + r, tile.column}, threadIdx.x);
    async::commit();
  }
  const Borders borders(run, tile);
  borders.store(scores, tile);
  RowGroups source{ref};
  sweep(scores, source, run.penalty);
  store_scores(scores, run, tile);
}

template <class B>
__global__ void __launch_bounds__(band_threads) bands(BandRun run) {
  extern __shared__ __align__(128) unsigned char memory[];
  move_bands<B, AsyncLoader<B, B::stages - 4>>(run, *reinterpret_cast<StageMemory<B>*>(memory));
}

template <class B>
ConfigOf<Problem> config(const char* name) {
  return bands_config<B>(name, bands<B>, band_threads, sizeof(StageMemory<B>), B::stages - 3);
}

const bool registered =
    register_variant<Problem>("nw", Strategy::overlap,
                              {diagonals_config(diagonal, sizeof(int) * Iso::tile * Iso::tile),
                               config<Bands<12>>("bands-12"), config<Bands<6>>("bands-6")});

}  // namespace
}  // namespace amasia::nw
