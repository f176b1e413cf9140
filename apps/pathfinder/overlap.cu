// pathfinder/overlap: a ring of wall row-blocks by cp.async; the next ones travel while the oldest
// is computed (Svedin et al., Algorithm 2). The wall does not depend on the costs, so any depth is
// possible: bytes in flight are a parameter and the row-to-row chain is all that is left.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "variants/copies/sliding_tile.cuh"
#include "variants/copies/tile_by_cp_async.cuh"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {
namespace {

constexpr int iso_rows = 10, iso_stages = 2;  // 20 rows = 20 KB in flight per block
using RowTile = Tile<int, 1, Iso::threads>;
using WallTile = Tile<int, iso_rows, Iso::threads>;

struct RingWall {
  const PyramidRun& run;
  int (&ring)[iso_stages][WallTile::elements];

  __device__ void fetch(int stage) {
    if (stage * iso_rows < Iso::height) {
      async::copy_tile<WallTile, Iso::threads>(
          ring[stage % iso_stages], run.wall,
          {run.first_row + stage * iso_rows, Iso::column(blockIdx.x, 0)}, threadIdx.x);
    }
    async::commit();
  }
  __device__ void ready(int i) {
    if (i % iso_rows != 0) return;
    fetch(i / iso_rows + iso_stages - 1);  // the row loop's barriers have emptied that stage
    async::wait<iso_stages - 1>();
    __syncthreads();
  }
  __device__ int at(int i) const {
    return ring[i / iso_rows % iso_stages][i % iso_rows * Iso::threads + threadIdx.x];
  }
};

__global__ void __launch_bounds__(Iso::threads) pyramid(PyramidRun run) {
  __shared__ PyramidRows rows;
  __shared__ __align__(16) int ring[iso_stages][WallTile::elements];
  const Grid<const int> source{run.source, 1, run.wall.columns, run.wall.pitch};
  async::copy_tile<RowTile, Iso::threads>(rows.above, source, {0, Iso::column(blockIdx.x, 0)},
                                          threadIdx.x);
  RingWall wall{run, ring};
  for (int stage = 0; stage < iso_stages - 1; ++stage) wall.fetch(stage);
  async::wait<iso_stages - 2>();  // the source row came with the first stage
  __syncthreads();
  climb(run, rows, wall);
  async::wait<0>();
}

template <class S>
struct OverlapWall {
  using Storage = int[S::stages][S::stage_elements];
  static constexpr unsigned stage_bytes = sizeof(int) * S::stage_elements;
  SlidingTile<Tile<int, S::stage_rows, S::tile_columns>, S::threads> source;
  const unsigned to, from;
  unsigned fetched = 0, read = 0;  // byte offsets into the ring
  unsigned stage = 0;
  int to_fetch = 0;

  __device__ OverlapWall(Storage& ring, const Walk& walk)
      : source{walk.wall, {walk.first_row, S::tile_column(blockIdx.x)}, int(threadIdx.x)},
        to(async::held_address(ring)),
        from(async::held_address(ring[0] + threadIdx.x / 32 * S::stride +
                                 threadIdx.x % 32 * S::lane_columns)) {}
  __device__ void fetch() {
    if (--to_fetch >= 0) source.copy_async(to + fetched);
    async::commit();
    fetched = fetched == (S::stages - 1) * stage_bytes ? 0 : fetched + stage_bytes;
  }
  __device__ void begin(int stages) {
    to_fetch = stages;
    for (int i = 0; i < S::stages - 1; ++i) fetch();
  }
  __device__ void wait() {
    async::wait<S::stages - 2>();
    __syncthreads();  // the stage is there for all, the one before it read by all
    fetch();
    stage = from + read;
    read = read == (S::stages - 1) * stage_bytes ? 0 : read + stage_bytes;
  }
  __device__ int4 load(int row, int column) const {
    return async::load16(stage + 4 * (row * S::tile_columns + column));
  }
  __device__ void release() {}
};

template <class S>
ConfigOf<Problem> config(const char* name) {
  return copied_strips_config<S, OverlapWall<S>>(name);
}

//                     warps, columns per lane, stride, exchanges, rows per stage, stages, round,
//                     blocks per SM
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::overlap,
    {pyramid_config(pyramid, sizeof(int) * WallTile::elements * iso_stages),
     config<Strips<3, 4, 56, 2, 18, 5, 2>>("tall"),
     config<Strips<3, 12, 320, 1, 4, 5, 1>>("middle"),
     config<Strips<25, 12, 320, 1, 1, 5, 1>>("wide"),
     config<Strips<3, 4, 56, 2, 36, 3, 2>>("tall-36"),
     config<Strips<4, 4, 48, 2, 40, 3, 2>>("tall-4"),
     config<Strips<8, 12, 320, 1, 1, 5, 1, 3>>("wide-8")});

}  // namespace
}  // namespace amasia::pathfinder
