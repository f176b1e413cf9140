// nw/drop_off: each thread's next elements of ref in its own slots (Svedin et al., Algorithm 3). A
// thread reads its own rows only, so nobody else need know that they have come: it waits for its
// own copies, and no barrier is spent on ref.
//
// - iso: a thread's column of the tile; seven rows in flight, or one as in the paper.
// - bands: a lane's next cells of ref, in the very place where it will put their scores. The price:
//   the warp that computes also issues the copies, 16 bytes each where a line has 128. A batch
//   would not change what a lane asks for, so there is one movement per number of stages.
#include "apps/nw/diagonals.cuh"
#include "apps/nw/stages.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {
namespace {

template <class Schedule>
struct ColumnStorage {
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
  __shared__ ColumnStorage<Schedule> shared;
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

/// The walker's pipeline when the walker itself does the copying: what it will read `ahead` steps
/// later, to the place where it will be read.
template <class B, class W>
struct PrivatePipeline : BarrierPipeline<B, W> {
  // A place is free in the third period after its stage's own: in the second the producers store
  // it. The last step of a period already reads for the next, so what is copied in it goes with the
  // chunk before.
  static constexpr int ahead_stages = B::stages - 3;
  static constexpr int ahead = ahead_stages * B::period - 1;

  const BandRun& run;
  const int lane;
  const int chunks;                   // of a row of the grid
  int next = 0;                       // chunk to copy next; negative: before the first
  const int* source = nullptr;        // it, in the lane's first row
  unsigned before = 0;                // shared address of the chunk that was read last
  std::int64_t to_row[B::lane_rows];  // elements from there to the lane's other rows

  __device__ PrivatePipeline(BandStorage<B>& shared, const BandRun& r)
      : BarrierPipeline<B, W>(shared, r),
        run(r),
        lane(threadIdx.x % 32),
        chunks(static_cast<int>(r.ref.pitch / 4)) {}

  __device__ void begin(int band) {
    BarrierPipeline<B, W>::begin(band);
    const std::int64_t row = std::int64_t{band} * B::rows + lane * B::lane_rows;
    const std::int64_t last = run.ref.rows - 1;  // is copied in the place of rows beyond the grid
    const std::int64_t own = row < last ? row : last;
#pragma unroll
    for (int r = 0; r < B::lane_rows; ++r) {
      to_row[r] = ((row + r < last ? row + r : last) - own) * run.ref.pitch;
    }
    // Lane l meets chunk 0 at step l.
    next = -lane;
    source = run.ref.data + own * run.ref.pitch + 4 * next;
    for (int s = 0; s < ahead; ++s) copy(place(s));
    before = place(ahead) - ahead_stages * B::stage_bytes;
  }
  /// Where the lane meets its chunk at step s after the first of a walk.
  __device__ unsigned place(int s) const {
    const int n = s / B::period - !B::entered(s % B::period, lane % B::group_lanes);
    const int chunk = B::chunk(s % B::period, lane % B::group_lanes);
    return this->first + n * B::stage_bytes + lane * (B::lane_rows * 4 * B::tile_columns) +
           16 * chunk;
  }
  __device__ void copy(unsigned to) {
    if (static_cast<unsigned>(next) < static_cast<unsigned>(chunks)) {
#pragma unroll
      for (int r = 0; r < B::lane_rows; ++r) {
        async::copy16<async::Cache::l1_too>(to + r * (4 * B::tile_columns), source + to_row[r]);
      }
    }
    ++next;
    source += 4;
    async::commit();
  }
  /// Before the chunk at `at` is read: the one that is read `ahead` steps later, a few stages
  /// further than the chunk before `at`.
  __device__ void fetched(unsigned at) {
    const unsigned to = before + ahead_stages * B::stage_bytes;
    copy(to >= this->end ? to - B::stages * B::stage_bytes : to);
    before = at;
    async::wait<ahead>();
  }
};

/// The producers only carry scores away.
template <class B, class W>
struct NoLoader {
  static constexpr int parts = 1;
  __device__ NoLoader(BandStorage<B>&, const Chunks<B, W>&) {}
  __device__ void producer_begin() {}
  template <int>
  __device__ void producer_load(int, int*) {}
  __device__ void producer_commit() {}
};

template <class B, class W>
__global__ void __launch_bounds__(W::block_threads) bands(BandRun run) {
  extern __shared__ __align__(128) unsigned char memory[];
  move_bands<B, W, PrivatePipeline<B, W>, NoLoader<B, W>>(
      run, *reinterpret_cast<BandStorage<B>*>(memory));
}

template <class Schedule, int DEPTH>
ConfigOf<Problem> tiles(const char* name) {
  return diagonals_config<Schedule>(name, diagonal<Schedule, DEPTH>, {{"rows_in_flight", DEPTH}},
                                    sizeof(int) * tile16 * (DEPTH + 1));
}

template <class Schedule, int BATCH, int AHEAD, int STAGES>
ConfigOf<Problem> slots(const char* name) {
  using B = Bands<Schedule, BATCH, STAGES, AHEAD>;
  using W = Warps<3>;
  BandsUse use{name, W::block_threads, sizeof(BandStorage<B>), 0, STAGES - 3};
  return bands_config<Schedule, B>(use, bands<B, W>);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::drop_off,
    {tiles<Iso, 7>(""), slots<Bands64x32, 2, 1, 6>("6-stages"),
     slots<Bands64x32, 2, 1, 4>("4-stages"), slots<Bands64x16, 2, 2, 6>("6-stages"),
     slots<Bands64x16, 2, 2, 4>("4-stages"), slots<Bands64x16, 2, 4, 6>("6-stages-ahead-4"),
     slots<Bands128x32, 1, 1, 6>("6-stages"), slots<Bands128x32, 1, 1, 12>("12-stages"),
     slots<Bands128x16, 1, 1, 6>("6-stages"), slots<Bands128x16, 1, 2, 6>("6-stages-ahead-2"),
     tiles<IsoPairs, 7>(""), tiles<Iso, 1>("1-row")});

}  // namespace
}  // namespace amasia::nw
