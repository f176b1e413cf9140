// pathfinder/baseline: every wall passes through a register.
//
// iso     The original: a thread reads the wall of its column from global memory when its row
//         comes, so each row costs a DRAM latency, which only other blocks hide. `ahead` asks for
//         all 20 rows at once and puts them in shared memory: register_bypass without cp.async.
// strips  A stage of wall rows goes global -> register -> shared. The computing warps load the next
//         stage into registers before they compute this one, and store it afterwards. That is what
//         careful code did before cp.async, at a cost in registers. Or producer warps do both.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/stages.cuh"
#include "variants/copies/tile.cuh"

namespace amasia::pathfinder {
namespace {

struct GlobalWall {
  const int* next;  // this column's cell in the row to come
  std::int64_t pitch;
  __device__ void consumer_wait(int) {}
  __device__ int at(int i) const { return next[i * pitch]; }
};

__global__ void __launch_bounds__(Iso::threads) pyramid(PyramidRun run) {
  __shared__ PyramidRows rows;
  follow_predecessor();
  const std::int64_t column = Iso::column(blockIdx.x, threadIdx.x);
  if (column >= 0 && column < run.wall.columns) rows.above[threadIdx.x] = run.source[column];
  GlobalWall wall{run.wall.data + run.first_row * run.wall.pitch + column, run.wall.pitch};
  __syncthreads();
  climb(run, rows, wall);
}

__global__ void __launch_bounds__(Iso::threads) pyramid_ahead(PyramidRun run) {
  __shared__ PyramidRows rows;
  __shared__ __align__(16) int tile[WallTile::elements];
  const std::int64_t column = Iso::column(blockIdx.x, 0);
  const Grid<const int> source{run.source, 1, run.wall.columns, run.wall.pitch};
  admit_successor();
  baseline::copy_tile<WallTile, Iso::threads>(tile, run.wall, {run.first_row, column}, threadIdx.x);
  wait_for_predecessor();
  baseline::copy_tile<RowTile, Iso::threads>(rows.above, source, {0, column}, threadIdx.x);
  __syncthreads();
  TileWall wall{tile};
  climb(run, rows, wall);
}

template <class S>
struct LoadedWall {  // by the computing warps
  using Storage = Stages<S>;
  using Vector = typename StageSource<S>::Vector;
  static constexpr bool engine = false;
  static constexpr int stages_in_flight = 1;
  static constexpr bool ahead = S::Movement::depth > 0;
  Storage& stages;
  StageSource<S> source;
  StageReader<S> reader;
  PipelineState<S::stages> state{};
  Vector held[StageSource<S>::count];

  __device__ LoadedWall(Storage& storage, const Walk& walk)
      : stages(storage), source(stage_source<S>(walk)), reader(storage) {}
  __device__ void prologue(int) {
    if (ahead) source.load(held);
  }
  __device__ void consumer_wait() {
    if (!ahead) source.load(held);
    if (S::stages == 1) __syncthreads();  // all have read it; of two, all have read the other one
    source.store(stages.wall[state.index], held);
    __syncthreads();
    if (ahead) source.load(held);
    reader.turn_to(state);
  }
  __device__ int4 load(int row, int column) const { return reader.load(row, column); }
  __device__ void consumer_release() { ++state; }
};

template <class S>
struct HandedWall : ProducedWall<S> {  // by producer warps
  using ProducedWall<S>::ProducedWall;
  static constexpr int stages_in_flight = 1;

  __device__ static void produce(Stages<S>& storage, const Walk& walk) {
    StageSource<S> source = stage_source<S>(walk);
    typename StageSource<S>::Vector held[StageSource<S>::count];
    const int stages = S::stages_of(walk.steps);
    PipelineState<S::stages> state;
    for (int n = 0; n < stages; ++n, ++state) {
      source.load(held);
      NamedBarriers<S>::producer_acquire(n, state);
      source.store(storage.wall[state.index], held);
      NamedBarriers<S>::producer_commit(state);
    }
  }
};

template <class Schedule, class M>
constexpr auto strips = StripsOf<LoadedWall, HandedWall>::template config<Schedule, M>;

// Rows per stage, stages, producer warps, depth
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::baseline,
    {pyramid_config("", pyramid, 0, {{"rows_in_flight", 1}}),
     pyramid_config("", pyramid, 0, {{"rows_in_flight", 1}}, Start::dependent),
     pyramid_config("ahead", pyramid_ahead, sizeof(int) * (WallTile::elements + RowTile::elements),
                    {{"rows_in_flight", Iso::height}}),
     pyramid_config("ahead", pyramid_ahead, sizeof(int) * (WallTile::elements + RowTile::elements),
                    {{"rows_in_flight", Iso::height}}, Start::dependent),
     strips<Tall2, Movement<28, 1, 0, 1>>(), strips<Tall2, Movement<14, 1, 0, 1>>(),
     strips<Tall2, Movement<28, 2, 4>>(), strips<Tall2, Movement<14, 2, 4>>(),
     strips<Tall3, Movement<36, 2, 4>>(), strips<Tall3Close, Movement<40, 2, 4>>(),
     strips<Middle, Movement<4, 2, 0, 1>>(), strips<Middle, Movement<8, 2, 4>>(),
     strips<MiddleClose, Movement<8, 2, 4>>(), strips<Wide8, Movement<2, 2>>(),
     strips<Wide8, Movement<2, 2, 0, 0, 1, 0, 6>>(), strips<Wide25, Movement<1, 2, 0, 1>>()},
    needs_groups);

}  // namespace
}  // namespace amasia::pathfinder
