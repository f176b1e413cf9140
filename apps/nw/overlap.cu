// nw/overlap: what is needed next travels while this is computed (Svedin et al., Algorithm 2,
// corrected: docs/papers.md).
//
// iso: one tile is all a block of the original has, so its rows are the stages. Four groups of four
// rows are waited for when the wavefront gets there.
//
// Bands: a pipeline of stages along the band. What is not being computed or stored is in flight.
#include "apps/nw/async_loaders.cuh"
#include "apps/nw/diagonals.cuh"
#include "variants/copies/tile.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {
namespace {

using RowGroup = Tile<int, 4, tile16>;  // a stage: 16 chunks, one per thread
constexpr int groups_of_tile = tile16 / RowGroup::rows;

/// Waits until at most `left` of MOST or fewer groups are unfinished: the number is an immediate.
template <int MOST>
__device__ void wait_for_all_but(int left) {
  if (left == MOST) {
    async::wait<MOST>();
  } else if constexpr (MOST > 0) {
    wait_for_all_but<MOST - 1>(left);
  }
}

template <int TILES>
struct GroupedRef {
  const RefTile& ref;
  int tile;  // of the block's TILES
  __device__ void consumer_wait(int d) {
    if (d % RowGroup::rows != 0 || d >= tile16) return;
    const int group = tile * groups_of_tile + d / RowGroup::rows;
    wait_for_all_but<TILES * groups_of_tile - 1>(TILES * groups_of_tile - 1 - group);
    __syncthreads();  // a thread reads what its neighbours have copied
  }
  __device__ int at(int r) const { return ref[r][threadIdx.x]; }
};

template <class Schedule>
__global__ void __launch_bounds__(tile16) diagonal(DiagonalRun run) {
  __shared__ TileSharedStorage<Schedule> shared;
  // Prologue: all that the block reads is asked for at once, group by group
  const Tile16 top = tile_of_block<Schedule>(run, 0);
  for (int r = 0; r < Schedule::tiles * tile16; r += RowGroup::rows) {
    async::copy_tile<RowGroup, tile16>(&shared.ref[0][0][0] + r * tile16, run.ref,
                                       {top.row + r, top.column}, threadIdx.x);
    async::commit();
  }
  const Borders<Schedule::tiles> borders(run, top);
  borders.store(shared.scores);
  // Main loop, Epilogue
  sweep_tiles<Schedule>(
      run, shared.scores, borders,
      [&](int n) {
        return GroupedRef<Schedule::tiles>{shared.ref[n], n};
      },
      [&](int, const Tile16& tile) { store_scores(shared.scores, run, tile); });
}

template <class Schedule>
ConfigOf<Problem> tiles() {
  return diagonals_config<Schedule>(
      "", diagonal<Schedule>,
      {{"stages", Schedule::tiles * groups_of_tile}, {"stage_rows", RowGroup::rows}},
      Schedule::tiles * sizeof(RefTile));
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::overlap,
    {tiles<Iso>(), async_columns<7, 3>("7-stages"), async_bands<1, 12, 8, 3>("12-stages"),
     async_bands<1, 6, 2, 3>("6-stages"), async_bands<2, 6, 2, 6>("6-stages-pairs-6-warps"),
     tiles<IsoPairs>()});

}  // namespace
}  // namespace amasia::nw
