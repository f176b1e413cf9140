// pathfinder/register_bypass: a block of wall rows by cp.async, waited for at once (Svedin et al.,
// Algorithm 1). The wall no longer passes through registers and a block of rows costs one latency
// instead of one each. The warps that copy have nothing else in flight and only wait.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/stages.cuh"
#include "variants/copies/tile.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::pathfinder {
namespace {

__global__ void __launch_bounds__(Iso::threads) pyramid(PyramidRun run) {
  __shared__ PyramidRows rows;
  __shared__ __align__(16) int tile[WallTile::elements];
  const std::int64_t column = Iso::column(blockIdx.x, 0);
  const Grid<const int> source{run.source, 1, run.wall.columns, run.wall.pitch};
  admit_successor();
  async::copy_tile<WallTile, Iso::threads>(tile, run.wall, {run.first_row, column}, threadIdx.x);
  wait_for_predecessor();
  async::copy_tile<RowTile, Iso::threads>(rows.above, source, {0, column}, threadIdx.x);
  async::commit();
  async::wait<0>();
  __syncthreads();
  TileWall wall{tile};
  climb(run, rows, wall);
}

template <class S>
struct CopiedWall {  // by the computing warps
  using Storage = Stages<S>;
  static constexpr bool engine = false;
  static constexpr int stages_in_flight = 1;
  StageSource<S> source;
  const unsigned to;
  StageReader<S> reader;
  PipelineState<S::stages> state{};

  __device__ CopiedWall(Storage& storage, const Walk& walk)
      : source(stage_source<S>(walk)), to(async::held_address(storage.wall)), reader(storage) {}
  __device__ void prologue(int) {}
  __device__ void consumer_wait() {
    if (S::stages == 1) __syncthreads();  // all have read it; of two, all have read the other one
    source.copy_async(to + reader.stage_bytes * state.index);
    async::commit();
    async::wait<0>();
    __syncthreads();
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
    const unsigned to = async::shared_address(storage.wall);
    const int stages = S::stages_of(walk.steps);
    PipelineState<S::stages> state;
    for (int n = 0; n < stages; ++n, ++state) {
      NamedBarriers<S>::producer_acquire(n, state);
      source.copy_async(to + StageReader<S>::stage_bytes * state.index);
      async::commit();
      async::wait<0>();
      NamedBarriers<S>::producer_commit(state);
    }
  }
};

template <class Schedule, class M>
constexpr auto strips = StripsOf<CopiedWall, HandedWall>::template config<Schedule, M>;

// Rows per stage, stages, producer warps
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::register_bypass,
    {pyramid_config("", pyramid, sizeof(int) * (WallTile::elements + RowTile::elements),
                    {{"rows_in_flight", Iso::height}}),
     pyramid_config("", pyramid, sizeof(int) * (WallTile::elements + RowTile::elements),
                    {{"rows_in_flight", Iso::height}}, Start::dependent),
     strips<Tall2, Movement<28, 1>>(), strips<Tall2, Movement<28, 2, 2>>(),
     strips<Tall2, Movement<14, 2, 2>>(), strips<Tall3, Movement<36, 2, 2>>(),
     strips<Tall3Close, Movement<40, 2, 2>>(), strips<Middle, Movement<8, 1>>(),
     strips<MiddleClose, Movement<8, 1>>(), strips<MiddleClose, Movement<8, 2, 2>>(),
     strips<Wide8, Movement<2, 2>>(), strips<Wide8, Movement<2, 2, 0, 0, 1, 0, 6>>(),
     strips<Wide25, Movement<2, 2>>()},
    needs_groups);

}  // namespace
}  // namespace amasia::pathfinder
