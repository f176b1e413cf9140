// pathfinder/baseline: every wall passes through a register.
//
// iso   the original: a thread reads the wall of its column from global memory when its row comes,
// so
//       each row costs a DRAM latency; other blocks are all that hides it.
// best  strips: a stage of wall rows global -> register -> shared, block barrier. `ahead` loads the
// next
//       stage into registers before computing this one: what careful code did before cp.async, paid
//       for in registers.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "variants/slide.cuh"

namespace amasia::pathfinder {
namespace {

struct GlobalWall {
  const int* next;  // this column's cell in the row to come
  std::int64_t pitch;
  __device__ void ready(int) {}
  __device__ int at(int i) const { return next[i * pitch]; }
};

__global__ void __launch_bounds__(Iso::threads) pyramid(PyramidRun run) {
  __shared__ PyramidRows rows;
  const std::int64_t column = Iso::column(blockIdx.x, threadIdx.x);
  if (column >= 0 && column < run.wall.columns) rows.above[threadIdx.x] = run.source[column];
  GlobalWall wall{run.wall.data + run.first_row * run.wall.pitch + column, run.wall.pitch};
  __syncthreads();
  climb(run, rows, wall);
}

template <class S>
struct Shared {
  int wall[S::stage_elements];
  typename BlockMail<S>::Storage mail;
};

template <class S, bool AHEAD>
struct StagedWall {
  using StageTile = Tile<int, S::stage_rows, S::tile_columns>;
  using Chunks = SlidingChunks<StageTile, S::threads>;
  const Grid<const int>& grid;
  std::int64_t first_row;
  int* tile;
  Chunks chunks{grid, S::tile_column(blockIdx.x), static_cast<int>(threadIdx.x)};
  typename Chunks::Vector held[Chunks::count];

  __device__ void fetch(int stage) {
    chunks.load(held, grid, first_row + std::int64_t{stage} * S::stage_rows, threadIdx.x);
  }
  __device__ void begin(int) {
    if (AHEAD) fetch(0);
  }
  __device__ void wait(int stage) {
    if (!AHEAD) fetch(stage);
    __syncthreads();  // all have read the stage before
    Chunks::store(tile, held, threadIdx.x);
    __syncthreads();
    if (AHEAD) fetch(stage + 1);
  }
  __device__ int4 load(int row, int column) const {
    const int first = threadIdx.x / 32 * S::stride + threadIdx.x % 32 * S::lane_columns;
    return *reinterpret_cast<const int4*>(tile + row * S::tile_columns + first + column);
  }
  __device__ void release(int) {}
};

template <class S, bool AHEAD>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) strips(Walk walk) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<S>*>(memory);
  StagedWall<S, AHEAD> wall{walk.wall, walk.first_row, shared.wall};
  BlockMail<S> mail{shared.mail};
  walk_strips<S>(walk, wall, mail);
}

template <class S, bool AHEAD>
ConfigOf<Problem> config(const char* name) {
  return strips_config<S>(name, strips<S, AHEAD>, sizeof(Shared<S>));
}

//                     warps, columns per lane, stride, exchanges, rows per stage, stages, round,
//                     blocks per SM
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::baseline,
    {pyramid_config(pyramid, 0), config<Strips<4, 4, 44, 2, 42, 1, 2>, true>("tall-ahead"),
     config<Strips<4, 12, 320, 1, 4, 1, 2, 6>, true>("wide-ahead"),
     config<Strips<4, 4, 44, 2, 42, 1, 2>, false>("tall"),
     config<Strips<4, 12, 320, 1, 4, 1, 2, 6>, false>("wide")});

}  // namespace
}  // namespace amasia::pathfinder
