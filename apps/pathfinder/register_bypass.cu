// pathfinder/register_bypass: a block of wall rows by cp.async, waited for at once (Svedin et al.,
// Algorithm 1). The wall no longer passes through registers and a block of rows costs one latency
// instead of one each; nothing overlaps with the computation but what other blocks do.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "variants/copies/sliding_tile.cuh"
#include "variants/copies/tile_by_cp_async.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/shared_memory.cuh"

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
struct BypassWall {
  using Storage = int[S::stage_elements];
  SlidingTile<Tile<int, S::stage_rows, S::tile_columns>, S::threads> source;
  unsigned to, stage;

  __device__ BypassWall(Storage& tile, const Walk& walk)
      : source{walk.wall, {walk.first_row, S::tile_column(blockIdx.x)}, int(threadIdx.x)},
        to(async::held_address(tile)),
        stage(async::held_address(tile + threadIdx.x / 32 * S::stride +
                                  threadIdx.x % 32 * S::lane_columns)) {}
  __device__ void begin(int) {}
  __device__ void wait() {
    __syncthreads();  // all have read the stage before
    source.copy_async(to);
    async::commit();
    async::wait<0>();
    __syncthreads();
  }
  __device__ int4 load(int row, int column) const {
    return async::load16(stage + 4 * (row * S::tile_columns + column));
  }
  __device__ void release() {}
};

template <class S>
ConfigOf<Problem> config(const char* name) {
  return copied_strips_config<S, BypassWall<S>>(name);
}

//                     warps, columns per lane, stride, exchanges, rows per stage, stages, round,
//                     blocks per SM
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::register_bypass,
    {pyramid_config(pyramid, sizeof(int) * (WallTile::elements + RowTile::elements)),
     config<Strips<3, 4, 56, 2, 36, 1, 2>>("tall"),
     config<Strips<3, 12, 320, 1, 8, 1, 1>>("middle"),
     config<Strips<4, 12, 320, 1, 2, 1, 1, 6>>("wide"),
     config<Strips<4, 4, 48, 2, 40, 1, 2>>("tall-4"),
     config<Strips<8, 12, 320, 1, 4, 1, 1, 3>>("wide-8")});

}  // namespace
}  // namespace amasia::pathfinder
