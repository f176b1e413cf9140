// nw/tma: ref tiles by tensor map, score tiles out by bulk tensor stores. One or two threads ask;
// the copy engine computes addresses, clips at the edges and reports bytes to an mbarrier. No
// thread but the walker touches a cell.
#include "apps/nw/column_boxes.cuh"
#include "apps/nw/diagonals.cuh"
#include "apps/nw/tma_stages.cuh"

namespace amasia::nw {
namespace {

template <class Schedule>
struct BoxSharedStorage : TileSharedStorage<Schedule> {
  tma::Barrier full[Schedule::tiles];
};

struct WaitedRef : WholeRef {
  tma::Barrier* full;
  __device__ void consumer_wait(int d) {
    if (d == 0) tma::wait(full, 0);
  }
};

template <class Schedule>
__global__ void __launch_bounds__(tile16)
    diagonal(DiagonalRun run, const __grid_constant__ CUtensorMap ref_map,
             const __grid_constant__ CUtensorMap score_map) {
  __shared__ BoxSharedStorage<Schedule> shared;
  // Prologue: all that the block reads is asked for at once
  const Tile16 top = tile_of_block<Schedule>(run, 0);
  const int x = static_cast<int>(top.column), y = static_cast<int>(top.row);
  if (threadIdx.x == 0) {
    for (int n = 0; n < Schedule::tiles; ++n) tma::init(&shared.full[n], 1);
    tma::fence_init();
    for (int n = 0; n < Schedule::tiles && y + n * tile16 < run.ref.rows; ++n) {
      tma::expect(&shared.full[n], sizeof(RefTile));
      tma::load_tile(shared.ref[n], &ref_map, x, y + n * tile16, &shared.full[n]);
    }
  }
  const Borders<Schedule::tiles> borders(run, top);
  borders.store(shared.scores);
  __syncthreads();
  // Main loop
  sweep_tiles<Schedule>(
      run, shared.scores, borders,
      [&](int n) {
        return WaitedRef{{shared.ref[n]}, &shared.full[n]};
      },
      [&](int n, const Tile16&) {
        // Scores where ref was: dense, as a box is
        const int t = threadIdx.x;
        for (int r = 0; r < tile16; ++r) shared.ref[n][r][t] = shared.scores[r + 1][t + 1];
        tma::fence_async_proxy();
        __syncthreads();
        if (t == 0) {
          tma::store_tile(&score_map, x, y + n * tile16, shared.ref[n]);
          tma::commit_stores();
        }
      });
  // Epilogue: the block's memory must last until it has been read
  if (threadIdx.x == 0) tma::wait_stores_read<0>();
}

template <class B>
__global__ void __launch_bounds__(tma_threads)
    bands(BandRun run, const __grid_constant__ CUtensorMap ref_map,
          const __grid_constant__ CUtensorMap score_map) {
  extern __shared__ __align__(128) unsigned char bytes[];
  auto& shared = *reinterpret_cast<TmaSharedStorage<B>*>(bytes);
  // Prologue
  init_pipeline(shared);
  const unsigned tag = run_tag(run.handover);
  const int count = B::bands(run.ref.rows);
  TmaConsumer<B> consumer(shared, run.ref.columns);
  TmaProducer<B> producer(shared, ref_map, score_map, run.ref.columns);
  WordLink<B> link(run, tag);
  // Main loop
  for (;;) {
    if (threadIdx.x == 0) shared.ticket = take_tickets(run.handover, 1);
    __syncthreads();
    const int band = shared.ticket;
    if (band >= count) break;
    if (threadIdx.x < 32) {
      walk_band<B>(run, band, consumer, link, shared.above);
    } else if (is_producer()) {
      producer.produce(band);
    }
    __syncthreads();
  }
  // Epilogue
  if (threadIdx.x == 0) finish_run(run.handover, gridDim.x);
}

template <class Schedule>
ConfigOf<Problem> tiles() {
  return diagonals_config<Schedule>(
      "", diagonal<Schedule>, {{"stages", Schedule::tiles}, {"stage_rows", tile16}},
      Schedule::tiles * sizeof(RefTile),
      [](const Problem& p) { return tensor_maps(p, tile16, tile16); });
}

template <int BATCH, int STAGES>
ConfigOf<Problem> ring(const char* name) {
  using B = Bands<Bands128x32, BATCH, STAGES>;
  return bands_config<B>(
      {name, tma_threads, sizeof(TmaSharedStorage<B>), tma_producers, STAGES - 3}, bands<B>,
      [](const Problem& p) { return tensor_maps(p, B::group_rows, B::tile_columns); });
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::tma,
    {tiles<Iso>(), columns_by_boxes<7, 1>("7-stages"), ring<1, 12>("12-stages"),
     ring<2, 6>("6-stages-pairs"), tiles<IsoPairs>()});

}  // namespace
}  // namespace amasia::nw
