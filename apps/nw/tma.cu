// nw/tma: ref tiles by tensor map into a ring, score tiles out by bulk tensor stores. Two
// threads ask; the copy engine computes addresses, clips at the edges and reports bytes to an
// mbarrier. No thread but the walker touches a cell.
#include "apps/nw/diagonals.cuh"
#include "apps/nw/tma_stages.cuh"

namespace amasia::nw {
namespace {

__global__ void __launch_bounds__(Iso::threads)
    diagonal(DiagonalRun run, const __grid_constant__ CUtensorMap ref_map,
             const __grid_constant__ CUtensorMap score_map) {
  __shared__ Scores scores;
  __shared__ alignas(128) int ref[Iso::tile][Iso::tile];
  __shared__ tma::Barrier full;
  const std::int64_t column = run.first_column + blockIdx.x;
  const Tile16 tile(run, run.diagonal - column, column);
  const int x = static_cast<int>(tile.column), y = static_cast<int>(tile.row);
  if (threadIdx.x == 0) {
    tma::init(&full, 1);
    tma::fence_init();
    tma::expect(&full, sizeof(ref));
    tma::load_tile(ref, &ref_map, x, y, &full);
  }
  const Borders borders(run, tile);
  borders.store(scores, tile);
  __syncthreads();
  tma::wait(&full, 0);
  WholeRef source{ref};
  sweep(scores, source, run.penalty);
  // Scores where ref was: dense, as a box is
  for (int r = 0; r < Iso::tile; ++r) ref[r][threadIdx.x] = scores[r + 1][threadIdx.x + 1];
  tma::fence_async_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    tma::store_tile(&score_map, x, y, ref);
    tma::commit_stores();
    tma::wait_stores_read<0>();
  }
}

template <class B, int TURN>
__global__ void __launch_bounds__(tma_threads)
    bands(BandRun run, const __grid_constant__ CUtensorMap ref_map,
          const __grid_constant__ CUtensorMap score_map) {
  extern __shared__ __align__(128) unsigned char bytes[];
  auto& memory = *reinterpret_cast<TmaMemory<B>*>(bytes);
  prepare(memory);
  const unsigned tag = run_tag(run);
  const int count = B::bands(run.ref.rows);
  TmaRing<B> ring(memory, run.ref.columns);
  TmaMover<B, TURN> mover(memory, ref_map, score_map, run.ref.columns);
  WordLink link(run, tag);
  for (;;) {
    if (threadIdx.x == 0) memory.ticket = take_ticket(run);
    __syncthreads();
    const int band = memory.ticket;
    if (band >= count) break;
    if (threadIdx.x < 32) {
      walk_band<B>(run, band, ring, link, memory.above);
    } else if (asks()) {
      mover.walk(band);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) finish_run(run, gridDim.x);
}

template <class B, int TURN = 1>
ConfigOf<Problem> config(const char* name) {
  return bands_config<B>(name, bands<B, TURN>, tma_threads, sizeof(TmaMemory<B>), B::stages - 3,
                         tensor_maps<B>);
}

const bool registered = register_variant<Problem>(
    "nw", Strategy::tma,
    {diagonals_config(
         diagonal, sizeof(int) * Iso::tile * Iso::tile,
         [](const Problem& p) {
           const Grid<const int> score{p.score.data, p.score.rows, p.score.columns, p.score.pitch};
           return std::tuple(tensor_map(p.ref, Iso::tile, Iso::tile),
                             tensor_map(score, Iso::tile, Iso::tile));
         }),
     config<Bands<12>, 2>("bands-12-pairs"), config<Bands<12>>("bands-12"),
     config<Bands<6>>("bands-6")});

}  // namespace
}  // namespace amasia::nw
