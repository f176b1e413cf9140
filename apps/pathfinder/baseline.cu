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
#include "variants/copies/sliding_tile.cuh"
#include "variants/ptx/shared_memory.cuh"

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
  using Stage = SlidingTile<Tile<int, S::stage_rows, S::tile_columns>, S::threads>;
  int* tile;
  Stage source;
  unsigned stage =
      async::held_address(tile + threadIdx.x / 32 * S::stride + threadIdx.x % 32 * S::lane_columns);
  typename Stage::Vector held[Stage::count];

  __device__ void begin(int) {
    if (AHEAD) source.load(held);
  }
  __device__ void wait() {
    if (!AHEAD) source.load(held);
    __syncthreads();  // all have read the stage before
    source.store(tile, held);
    __syncthreads();
    if (AHEAD) source.load(held);
  }
  __device__ int4 load(int row, int column) const {
    return async::load16(stage + 4 * (row * S::tile_columns + column));
  }
  __device__ void release() {}
};

template <class S, bool AHEAD>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) strips(Walk walk) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<S>*>(memory);
  StagedWall<S, AHEAD> wall{
      shared.wall, {walk.wall, {walk.first_row, S::tile_column(blockIdx.x)}, int(threadIdx.x)}};
  Walker<S> walker(walk.wall.columns);
  BlockMail<S> mail(shared.mail, walker);
  walk_strips<S>(walk, walker, wall, mail);
}

template <class S, bool AHEAD>
ConfigOf<Problem> config(const char* name) {
  return strips_config<S>(name, strips<S, AHEAD>, sizeof(Shared<S>));
}

//                     warps, columns per lane, stride, exchanges, rows per stage, stages, round,
//                     blocks per SM
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::baseline,
    {pyramid_config(pyramid, 0), config<Strips<3, 4, 56, 2, 36, 1, 2>, true>("tall-ahead"),
     config<Strips<3, 12, 320, 1, 4, 1, 1>, true>("middle-ahead"),
     config<Strips<8, 12, 320, 1, 1, 1, 1, 3>, true>("wide-ahead"),
     config<Strips<4, 4, 56, 3, 36, 1, 2>, true>("tall-4-ahead"),
     config<Strips<4, 4, 56, 3, 36, 1, 2>, false>("tall-4"),
     config<Strips<8, 12, 320, 1, 4, 1, 1, 3>, false>("wide")});

}  // namespace
}  // namespace amasia::pathfinder
