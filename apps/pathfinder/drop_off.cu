// pathfinder/drop_off: each thread's next walls in its own slots (Svedin et al., Algorithm 3, whose
// example this app is). A wall is read once, by the thread that uses it, so nobody else need know
// that it has come: the thread waits for its own copies and no barrier is spent on the wall. The
// price: a thread copies what its windows' overlap makes it use, though a neighbour has copied it
// as well.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "variants/slide.cuh"

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
struct Shared {
  // Slot of a lane: 4 walls of a row. Lanes of a warp side by side, so that no bank is asked twice.
  int4 wall[S::stages][S::stage_rows][S::lane_columns / 4][S::threads];
  typename BlockMail<S>::Storage mail;
};

template <class S>
struct PrivateWall {
  using LaneTile = Tile<int, S::stage_rows, S::lane_columns>;
  const Grid<const int>& grid;
  std::int64_t first_row;
  Shared<S>& shared;
  SlidingChunks<LaneTile, 1> chunks{grid,
                                    S::tile_column(blockIdx.x) + threadIdx.x / 32 * S::stride +
                                        threadIdx.x % 32 * S::lane_columns,
                                    0};
  int slot = 0, last = 0;

  __device__ void fetch(int stage) {
    const std::int64_t row = first_row + std::int64_t{stage} * S::stage_rows;
#pragma unroll
    for (int r = 0; r < S::stage_rows && stage < last; ++r) {
#pragma unroll
      for (int c = 0; c < S::lane_columns / 4; ++c) {
        async::copy_through_l1<16>(&shared.wall[stage % S::stages][r][c][threadIdx.x],
                                   chunks.source(grid, row, r * (S::lane_columns / 4) + c, 0));
      }
    }
    async::commit();
  }
  __device__ void begin(int stages) {
    last = stages;
    for (int stage = 0; stage < S::stages - 1; ++stage) fetch(stage);
  }
  __device__ void wait(int stage) {
    fetch(stage + S::stages - 1);
    async::wait<S::stages - 1>();
    slot = stage % S::stages;
  }
  __device__ int4 load(int row, int column) const {
    return shared.wall[slot][row][column / 4][threadIdx.x];
  }
  __device__ void release(int) {}
};

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) strips(Walk walk) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<S>*>(memory);
  PrivateWall<S> wall{walk.wall, walk.first_row, shared};
  BlockMail<S> mail{shared.mail};
  walk_strips<S>(walk, wall, mail);
}

template <class S>
ConfigOf<Problem> config(const char* name) {
  return strips_config<S>(name, strips<S>, sizeof(Shared<S>));
}

//                     warps, columns per lane, stride, exchanges, rows per stage, stages, round,
//                     blocks per SM
const bool registered =
    register_variant<Problem>("pathfinder", Strategy::drop_off,
                              {pyramid_config(pyramid, sizeof(int) * Iso::threads * iso_depth),
                               config<Strips<4, 4, 44, 2, 6, 10, 2>>("tall"),
                               config<Strips<4, 12, 320, 1, 2, 3, 2, 6>>("wide"),
                               config<Strips<2, 4, 68, 2, 6, 10, 2>>("tall-2"),
                               config<Strips<4, 4, 96, 1, 2, 4, 2, 16>>("wide-4")});

}  // namespace
}  // namespace amasia::pathfinder
