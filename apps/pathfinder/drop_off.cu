// pathfinder/drop_off: each thread's next walls in its own slots (Svedin et al., Algorithm 3, whose
// example this app is). A wall is read once, by the thread that uses it, so nobody else need know
// that it has come: the thread waits for its own copies and no barrier is spent on the wall. The
// price: a thread copies what its windows' overlap makes it use, though a neighbour has copied it
// as well.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "variants/copies/sliding_tile.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {
namespace {

constexpr int iso_depth = 8;  // rows in flight per thread

struct SlotWall {
  const int* column;  // this thread's wall in the first row; nullptr outside the grid
  std::int64_t pitch;
  int steps;
  int (&slots)[iso_depth][Iso::threads];

  __device__ void fetch(int i) {
    if (column != nullptr && i < steps) {
      async::copy<4>(&slots[i % iso_depth][threadIdx.x], column + i * pitch);
    }
    async::commit();
  }
  __device__ void ready(int i) {
    fetch(i + iso_depth - 1);
    async::wait<iso_depth - 1>();
  }
  __device__ int at(int i) const { return slots[i % iso_depth][threadIdx.x]; }
};

__global__ void __launch_bounds__(Iso::threads) pyramid(PyramidRun run) {
  __shared__ PyramidRows rows;
  __shared__ int slots[iso_depth][Iso::threads];
  const std::int64_t column = Iso::column(blockIdx.x, threadIdx.x);
  const bool inside = column >= 0 && column < run.wall.columns;
  if (inside) async::copy<4>(&rows.above[threadIdx.x], run.source + column);
  const int* first = run.wall.data + run.first_row * run.wall.pitch + column;
  SlotWall wall{inside ? first : nullptr, run.wall.pitch, run.steps, slots};
  for (int i = 0; i < iso_depth - 1; ++i) wall.fetch(i);
  async::wait<iso_depth - 2>();  // the source came with the first row; neighbours read it, too
  __syncthreads();
  climb(run, rows, wall);
}

template <class S>
struct PrivateWall {
  static constexpr int pieces = S::lane_columns / 4;  // of 16 bytes, per row
  static constexpr unsigned piece_bytes = 16 * S::threads;
  static constexpr unsigned stage_bytes = S::stage_rows * pieces * piece_bytes;
  // Slot of a lane: 4 walls of a row. Lanes of a warp side by side, so that no bank is asked twice.
  using Storage = int4[S::stages][S::stage_rows][pieces][S::threads];
  // The lane's own piece of the wall: as high as a stage, as wide as the lane
  SlidingTile<Tile<int, S::stage_rows, S::lane_columns>, 1> source;
  const unsigned slots;
  unsigned fetched = 0, read = 0;  // byte offsets into the ring
  unsigned stage = 0;
  int to_fetch = 0;

  __device__ PrivateWall(Storage& wall, const Walk& walk)
      : source{walk.wall,
               {walk.first_row, S::tile_column(blockIdx.x) + threadIdx.x / 32 * S::stride +
                                    threadIdx.x % 32 * S::lane_columns},
               0},
        slots(async::held_address(&wall[0][0][0][threadIdx.x])) {}
  __device__ void fetch() {
    if (--to_fetch >= 0) {
      source.each([&](int k, const int* wall) {
        async::copy16<async::Cache::l1_too>(slots + fetched + k * piece_bytes, wall);
      });
    }
    async::commit();
    fetched = fetched == (S::stages - 1) * stage_bytes ? 0 : fetched + stage_bytes;
  }
  __device__ void begin(int stages) {
    to_fetch = stages;
    for (int i = 0; i < S::stages - 1; ++i) fetch();
  }
  __device__ void wait() {
    fetch();  // into the slots this thread has read last
    async::wait<S::stages - 1>();
    stage = slots + read;
    read = read == (S::stages - 1) * stage_bytes ? 0 : read + stage_bytes;
  }
  __device__ int4 load(int row, int column) const {
    return async::load16(stage + (row * pieces + column / 4) * piece_bytes);
  }
  __device__ void release() {}
};

template <class S>
ConfigOf<Problem> config(const char* name) {
  return copied_strips_config<S, PrivateWall<S>>(name);
}

//                     warps, columns per lane, stride, exchanges, rows per stage, stages, round,
//                     blocks per SM
const bool registered =
    register_variant<Problem>("pathfinder", Strategy::drop_off,
                              {pyramid_config(pyramid, sizeof(int) * Iso::threads * iso_depth),
                               config<Strips<2, 4, 64, 2, 32, 3, 2>>("tall"),
                               config<Strips<3, 12, 320, 1, 4, 4, 1>>("middle"),
                               config<Strips<8, 12, 320, 1, 1, 5, 1, 3>>("wide"),
                               config<Strips<2, 4, 64, 2, 16, 5, 2>>("tall-16"),
                               config<Strips<3, 4, 56, 2, 12, 6, 2>>("tall-3")});

}  // namespace
}  // namespace amasia::pathfinder
