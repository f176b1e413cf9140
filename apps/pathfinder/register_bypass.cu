// pathfinder/register_bypass: a block of wall rows by cp.async, waited for at once (Svedin et al.,
// Algorithm 1). The wall no longer passes through registers and a block of rows costs one latency
// instead of one each; nothing overlaps with the computation but what other blocks do.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "variants/slide.cuh"

namespace amasia::pathfinder {
namespace {

using RowTile = Tile<int, 1, Iso::threads>;
using WallTile = Tile<int, Iso::height, Iso::threads>;

struct TileWall {
  const int* tile;
  __device__ void ready(int) {}
  __device__ int at(int i) const { return tile[i * Iso::threads + threadIdx.x]; }
};

__global__ void __launch_bounds__(Iso::threads) pyramid(PyramidRun run) {
  __shared__ PyramidRows rows;
  __shared__ __align__(16) int tile[WallTile::elements];
  const std::int64_t column = Iso::column(blockIdx.x, 0);
  const Grid<const int> source{run.source, 1, run.wall.columns, run.wall.pitch};
  async::copy_tile<RowTile, Iso::threads>(rows.above, source, {0, column}, threadIdx.x);
  async::copy_tile<WallTile, Iso::threads>(tile, run.wall, {run.first_row, column}, threadIdx.x);
  async::commit();
  async::wait<0>();
  __syncthreads();
  TileWall wall{tile};
  climb(run, rows, wall);
}

template <class S>
struct Shared {
  int wall[S::stage_elements];
  typename BlockMail<S>::Storage mail;
};

template <class S>
struct BypassWall {
  using StageTile = Tile<int, S::stage_rows, S::tile_columns>;
  const Grid<const int>& grid;
  std::int64_t first_row;
  int* tile;
  SlidingChunks<StageTile, S::threads> chunks{grid, S::tile_column(blockIdx.x),
                                              static_cast<int>(threadIdx.x)};
  __device__ void begin(int) {}
  __device__ void wait(int stage) {
    __syncthreads();  // all have read the stage before
    chunks.copy_async(tile, grid, first_row + std::int64_t{stage} * S::stage_rows, threadIdx.x);
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
  __device__ int4 load(int row, int column) const {
    const int first = threadIdx.x / 32 * S::stride + threadIdx.x % 32 * S::lane_columns;
    return *reinterpret_cast<const int4*>(tile + row * S::tile_columns + first + column);
  }
  __device__ void release(int) {}
};

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm) strips(Walk walk) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<S>*>(memory);
  BypassWall<S> wall{walk.wall, walk.first_row, shared.wall};
  BlockMail<S> mail{shared.mail};
  walk_strips<S>(walk, wall, mail);
}

template <class S>
ConfigOf<Problem> config(const char* name) {
  return strips_config<S>(name, strips<S>, sizeof(Shared<S>));
}

//                     warps, columns per lane, stride, exchanges, rows per stage, stages, round,
//                     blocks per SM
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::register_bypass,
    {pyramid_config(pyramid, sizeof(int) * (WallTile::elements + RowTile::elements)),
     config<Strips<4, 4, 44, 2, 42, 1, 2>>("tall"),
     config<Strips<4, 12, 320, 1, 4, 1, 2, 6>>("wide"),
     config<Strips<4, 4, 44, 2, 14, 1, 2>>("tall-14")});

}  // namespace
}  // namespace amasia::pathfinder
