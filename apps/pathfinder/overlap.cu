// pathfinder/overlap: a pipeline of wall row-blocks by cp.async; the next ones travel while the
// oldest is computed (Svedin et al., Algorithm 2, corrected: docs/papers.md). The wall does not
// depend on the costs, so any depth is possible: bytes in flight are a parameter and the row-to-row
// chain is all that is left.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/stages.cuh"
#include "variants/copies/tile.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::pathfinder {
namespace {

constexpr int iso_rows = 10, iso_stages = 2;  // 20 rows = 20 KB in flight per block
using StageTile = Tile<int, iso_rows, Iso::threads>;

struct StagedWall {
  const PyramidRun& run;
  int (&stages)[iso_stages][StageTile::elements];

  __device__ void produce(int n) {
    if (n * iso_rows < Iso::height) {
      async::copy_tile<StageTile, Iso::threads>(
          stages[n % iso_stages], run.wall,
          {run.first_row + n * iso_rows, Iso::column(blockIdx.x, 0)}, threadIdx.x);
    }
    async::commit();
  }
  __device__ void consumer_wait(int i) {
    if (i % iso_rows != 0) return;
    produce(i / iso_rows + iso_stages - 1);  // the row loop's barriers have emptied that stage
    async::wait<iso_stages - 1>();
    __syncthreads();
  }
  __device__ int at(int i) const {
    return stages[i / iso_rows % iso_stages][i % iso_rows * Iso::threads + threadIdx.x];
  }
};

__global__ void __launch_bounds__(Iso::threads) pyramid(PyramidRun run) {
  __shared__ PyramidRows rows;
  __shared__ __align__(16) int stages[iso_stages][StageTile::elements];
  const Grid<const int> source{run.source, 1, run.wall.columns, run.wall.pitch};
  StagedWall wall{run, stages};
  admit_successor();
  for (int n = 0; n < iso_stages - 1; ++n) wall.produce(n);
  wait_for_predecessor();
  async::copy_tile<RowTile, Iso::threads>(rows.above, source, {0, Iso::column(blockIdx.x, 0)},
                                          threadIdx.x);
  async::commit();
  async::wait<0>();
  __syncthreads();
  climb(run, rows, wall);
  async::wait<0>();
}

template <class S>
struct CopiedWall {  // by the computing warps
  using Storage = Stages<S>;
  static constexpr bool engine = false;
  static constexpr int stages_in_flight = S::stages - 1;
  static_assert(S::stages >= 2);
  StageSource<S> source;
  const unsigned to;
  StageReader<S> reader;
  PipelineState<S::stages> produced{}, read{};
  int to_produce = 0;

  __device__ CopiedWall(Storage& storage, const Walk& walk)
      : source(stage_source<S>(walk)), to(async::held_address(storage.wall)), reader(storage) {}
  __device__ void produce() {
    if (--to_produce >= 0) source.copy_async(to + reader.stage_bytes * produced.index);
    async::commit();
    ++produced;
  }
  __device__ void prologue(int stages) {
    to_produce = stages;
    for (int i = 0; i < S::stages - 1; ++i) produce();
  }
  __device__ void consumer_wait() {
    async::wait<S::stages - 2>();
    __syncthreads();  // the stage is there for all, the one before it read by all
    produce();
    reader.turn_to(read);
  }
  __device__ int4 load(int row, int column) const { return reader.load(row, column); }
  __device__ void consumer_release() { ++read; }
};

template <class S>
struct HandedWall : ProducedWall<S> {  // by producer warps
  using ProducedWall<S>::ProducedWall;
  static constexpr int stages_in_flight = S::stages - 1;
  // One stage is being read, and one more handed over before the next is asked for: so the
  // computing warps never wait for the copies of a stage to be issued.
  static constexpr int behind = S::stages - 2;
  static_assert(S::producers == 0 || behind > 0);

  __device__ static void produce(Stages<S>& storage, const Walk& walk) {
    StageSource<S> source = stage_source<S>(walk);
    const unsigned to = async::shared_address(storage.wall);
    const int stages = S::stages_of(walk.steps);
    PipelineState<S::stages> asked, committed;
    for (int n = 0; n < stages + behind; ++n, ++asked) {
      if (n < stages) {
        NamedBarriers<S>::producer_acquire(n, asked);
        source.copy_async(to + StageReader<S>::stage_bytes * asked.index);
      }
      async::commit();
      if (n < behind) continue;
      async::wait<behind>();
      NamedBarriers<S>::producer_commit(committed);
      ++committed;
    }
  }
};

template <class Schedule, class M>
constexpr auto strips = StripsOf<CopiedWall, HandedWall>::template config<Schedule, M>;

// Rows per stage, stages, producer warps
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::overlap,
    {pyramid_config("", pyramid, sizeof(int) * StageTile::elements * iso_stages,
                    {{"stage_rows", iso_rows}, {"stages", iso_stages}}),
     pyramid_config("", pyramid, sizeof(int) * StageTile::elements * iso_stages,
                    {{"stage_rows", iso_rows}, {"stages", iso_stages}}, Start::dependent),
     strips<Tall2, Movement<28, 3>>(), strips<Tall2, Movement<14, 3>>(),
     strips<Tall2, Movement<28, 4, 2>>(), strips<Tall2, Movement<14, 4, 2>>(),
     strips<Tall3, Movement<36, 3, 2>>(), strips<Tall3Close, Movement<40, 3, 2>>(),
     strips<Middle, Movement<4, 6, 2>>(), strips<MiddleClose, Movement<4, 6, 2>>(),
     strips<Wide8, Movement<1, 5, 2>>(), strips<Wide8, Movement<1, 5, 2, 0, 1, 0, 8>>(),
     strips<Wide25, Movement<1, 5, 7>>()},
    needs_groups);

}  // namespace
}  // namespace amasia::pathfinder
