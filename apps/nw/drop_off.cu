// nw/drop_off: each thread's next elements of ref in its own slots (Svedin et al., Algorithm 3). A
// thread reads its own rows only, so nobody else need know that they have come: it waits for its
// own copies, and no barrier is spent on ref.
//
// - iso: a thread's column of the tile; seven rows in flight, or one as in the paper.
// - bands: a lane's next cells of ref, in the very place where it will put their scores. The price:
//   the warp that computes also issues the copies, 16 bytes each where a line has 128. A batch does
//   not change what a lane asks for: pairs only halve the barriers at which scores are taken away.
#include "apps/nw/diagonals.cuh"
#include "apps/nw/own_copies.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {
namespace {

template <class Schedule>
struct ColumnSharedStorage {
  int slots[Schedule::tiles * tile16][tile16];
  Scores scores;
};

/// The thread's column of ref, DEPTH rows ahead of the anti-diagonal.
template <int DEPTH>
struct Column {
  const int* next;  // this thread's element to copy next; nullptr: its column is outside the grid
  std::int64_t pitch;
  int rows;  // that the grid has from the top of the block's tiles on
  int (*slots)[tile16];
  int fetched = 0;

  __device__ void fetch() {
    if (next != nullptr && fetched < rows) {
      async::copy<4>(&slots[fetched][threadIdx.x], next);
      next += pitch;
    }
    ++fetched;
    async::commit();
  }
};

template <int DEPTH>
struct ColumnOfTile {
  Column<DEPTH>& column;
  int first_row;  // of the tile, among the block's
  __device__ void consumer_wait(int) {
    column.fetch();
    async::wait<DEPTH>();  // this thread's turn is at the row fetched DEPTH earlier or before
  }
  __device__ int at(int r) const { return column.slots[first_row + r][threadIdx.x]; }
};

template <class Schedule, int DEPTH>
__global__ void __launch_bounds__(tile16) diagonal(DiagonalRun run) {
  __shared__ ColumnSharedStorage<Schedule> shared;
  // Prologue: the first rows
  const Tile16 top = tile_of_block<Schedule>(run, 0);
  const bool inside = static_cast<int>(threadIdx.x) < top.columns;
  const std::int64_t rows = run.ref.rows - top.row;
  constexpr int most = Schedule::tiles * tile16;
  Column<DEPTH> column{inside ? &run.ref.at(top.row, top.column + threadIdx.x) : nullptr,
                       run.ref.pitch, static_cast<int>(rows < most ? rows : most), shared.slots};
  for (int r = 0; r < DEPTH; ++r) column.fetch();
  const Borders<Schedule::tiles> borders(run, top);
  borders.store(shared.scores);
  __syncthreads();
  // Main loop, Epilogue
  sweep_tiles<Schedule>(
      run, shared.scores, borders,
      [&](int n) {
        return ColumnOfTile<DEPTH>{column, n * tile16};
      },
      [&](int, const Tile16& tile) { store_scores(shared.scores, run, tile); });
}

template <int STAGES, int AHEAD>
ConfigOf<Problem> columns(const char* name) {
  using B = ColumnBands<STAGES>;
  return copied_columns_config<B, OwnColumns<B, AHEAD>, NoColumnLoader<B>>(name, 0, AHEAD);
}

template <class Schedule, int DEPTH>
ConfigOf<Problem> tiles(const char* name) {
  return diagonals_config<Schedule>(name, diagonal<Schedule, DEPTH>, {{"rows_in_flight", DEPTH}},
                                    sizeof(int) * tile16 * (DEPTH + 1));
}

template <int BATCH, int STAGES>
ConfigOf<Problem> slots(const char* name) {
  using B = Bands<Bands128x32, BATCH, STAGES>;
  using W = Warps<3>;
  return copied_bands_config<B, W, PrivatePipeline<B, W>, NoLoader<B, W>>(name, 0, STAGES - 3);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::drop_off,
    {tiles<Iso, 7>(""), columns<7, 3>("7-stages"), slots<1, 6>("6-stages"),
     slots<2, 6>("6-stages-pairs"), tiles<IsoPairs, 7>(""), tiles<Iso, 1>("1-row")});

}  // namespace
}  // namespace amasia::nw
