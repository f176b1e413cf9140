// nw/drop_off: each thread's next elements of ref in its own slots (Svedin et al., Algorithm 3). A
// thread reads its own rows only, so nobody else need know that they have come: it waits for its
// own copies, and no barrier is spent on ref.
//
// - iso: a thread's column of the tile, seven rows in flight.
// - bands: a lane's next 4 x 4 cells of ref, in the very place where it will put their scores. The
// price: the warp that computes also issues the copies, 16 bytes each where a line has 128.
#include "apps/nw/diagonals.cuh"
#include "apps/nw/stages.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::nw {
namespace {

constexpr int iso_depth = 8;

struct Column {
  const int* ref;  // this thread's element in the tile's first row; nullptr outside the grid
  std::int64_t pitch;
  int rows;
  int (&slots)[Iso::tile][Iso::threads];

  __device__ void fetch(int r) {
    if (ref != nullptr && r < rows) async::copy<4>(&slots[r][threadIdx.x], ref + r * pitch);
    async::commit();
  }
  __device__ void ready(int d) {
    fetch(d + iso_depth - 1);
    async::wait<iso_depth - 1>();  // rows 0 ... d; this thread's turn is at row d - threadIdx.x
  }
  __device__ int at(int r) const { return slots[r][threadIdx.x]; }
};

__global__ void __launch_bounds__(Iso::threads) diagonal(DiagonalRun run) {
  __shared__ Scores scores;
  __shared__ int slots[Iso::tile][Iso::threads];
  const std::int64_t column = run.first_column + blockIdx.x;
  const Tile16 tile(run, run.diagonal - column, column);
  const int* first = &run.ref.at(tile.row, tile.column + threadIdx.x);
  Column source{static_cast<int>(threadIdx.x) < tile.columns ? first : nullptr, run.ref.pitch,
                tile.rows, slots};
  for (int r = 0; r < iso_depth - 1; ++r) source.fetch(r);
  const Borders borders(run, tile);
  borders.store(scores, tile);
  __syncthreads();
  sweep(scores, source, run.penalty);
  store_scores(scores, run, tile);
}

/// The walker's ring when the walker itself does the copying: what it will read AHEAD steps later,
/// to the place where it will be read.
template <class B>
struct PrivateRing : BarrierRing<B> {
  // A place in the ring is free in the third period after its stage's own: in the second the movers
  // store it. The last step of a period already reads for the next, so what is copied in it goes
  // with the chunk before.
  static constexpr int ahead_stages = B::stages - 3;
  static constexpr int ahead = ahead_stages * B::period - 1;
  const BandRun& run;
  const int lane;
  const int chunks;                   // of a row of the grid
  int next = 0;                       // chunk to copy next; negative: before the first
  const int* source = nullptr;        // it, in the lane's first row
  unsigned before = 0;                // shared address of the chunk that was read last
  std::int64_t to_row[B::lane_rows];  // elements from there to the lane's other rows

  __device__ PrivateRing(StageMemory<B>& memory, const BandRun& r)
      : BarrierRing<B>(memory),
        run(r),
        lane(threadIdx.x % 32),
        chunks(B::tiles(r.ref.columns) * B::period) {}

  __device__ void begin(int band) {
    BarrierRing<B>::begin(band);
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
  /// further in the ring than the chunk before `at`.
  __device__ void fetched(unsigned at) {
    const unsigned to = before + ahead_stages * B::stage_bytes;
    copy(to >= this->end ? to - B::stages * B::stage_bytes : to);
    before = at;
    async::wait<ahead>();
  }
};

/// The movers only carry scores away.
template <class B>
__device__ __forceinline__ void drop_bands(const BandRun& run, StageMemory<B>& memory) {
  const unsigned tag = run_tag(run);
  const int bands = B::bands(run.ref.rows), periods = B::periods(run.ref.columns);
  for (;;) {
    if (threadIdx.x == 0) memory.ticket = take_ticket(run);
    __syncthreads();
    const int band = memory.ticket;
    if (band >= bands) break;
    if (threadIdx.x < 32) {
      PrivateRing<B> ring(memory, run);
      WordLink link(run, tag);
      walk_band<B>(run, band, ring, link, memory.above);
      block_barrier<band_threads>();
    } else {
      Chunks<B> chunks(run, threadIdx.x - 32);
      chunks.begin(band);
      for (int k = 0; k <= periods; ++k) {
        block_barrier<band_threads>();
        if (k >= 2) chunks.store(k - 2, memory.stage[(k - 2) % B::stages]);
      }
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) finish_run(run, gridDim.x);
}

template <class B>
__global__ void __launch_bounds__(band_threads) bands(BandRun run) {
  extern __shared__ __align__(128) unsigned char memory[];
  drop_bands<B>(run, *reinterpret_cast<StageMemory<B>*>(memory));
}

template <class B>
ConfigOf<Problem> config(const char* name) {
  return bands_config<B>(name, bands<B>, band_threads, sizeof(StageMemory<B>), B::stages - 3);
}

const bool registered =
    register_variant<Problem>("nw", Strategy::drop_off,
                              {diagonals_config(diagonal, sizeof(int) * Iso::threads * iso_depth),
                               config<Bands<6>>("bands-6"), config<Bands<12>>("bands-12")});

}  // namespace
}  // namespace amasia::nw
