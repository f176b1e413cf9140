// pathfinder/tma: wall boxes by tensor map. One thread asks for rows x columns with halo and all;
// the copy engine computes the addresses, clips at the edges of the grid and reports the bytes to
// an mbarrier. No thread spends registers or instructions on addresses, no block barrier on
// arrival. That thread belongs to a producer warp, or it computes as well.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "apps/pathfinder/tma_wall.cuh"
#include "variants/device/tensor_map.hpp"

namespace amasia::pathfinder {
namespace {

constexpr int iso_rows = 4;  // of a box: computing starts after the first
constexpr int iso_boxes = Iso::height / iso_rows;

struct BoxWall {
  const int (&boxes)[iso_boxes][iso_rows * Iso::threads];
  tma::Barrier* full;
  __device__ void consumer_wait(int i) {
    if (i % iso_rows == 0) tma::wait(&full[i / iso_rows], 0);
  }
  __device__ int at(int i) const {
    return boxes[i / iso_rows][i % iso_rows * Iso::threads + threadIdx.x];
  }
};

__global__ void __launch_bounds__(Iso::threads)
    pyramid(PyramidRun run, const __grid_constant__ CUtensorMap map) {
  __shared__ alignas(128) int boxes[iso_boxes][iso_rows * Iso::threads];
  __shared__ alignas(128) PyramidRows rows;
  __shared__ tma::Barrier full[iso_boxes];
  admit_successor();
  if (threadIdx.x == 0) {
    for (tma::Barrier& barrier : full) tma::init(&barrier, 1);
    tma::fence_init();
    // The source row is no tensor of its own: a flat run, clipped to the row. It counts with box 0.
    const std::int64_t column = Iso::column(blockIdx.x, 0);
    const std::int64_t begin = column < 0 ? 0 : column;
    const std::int64_t end =
        column + Iso::threads < run.wall.pitch ? column + Iso::threads : run.wall.pitch;
    const auto source_bytes = static_cast<unsigned>((end - begin) * sizeof(int));
    for (int box = 0; box < iso_boxes; ++box) {
      tma::expect(&full[box], sizeof(boxes[box]) + (box == 0 ? source_bytes : 0));
      tma::load_tile(boxes[box], &map, static_cast<int>(column),
                     static_cast<int>(run.first_row) + box * iso_rows, &full[box]);
    }
    wait_for_predecessor();
    tma::load_bytes(rows.above + (begin - column), run.source + begin, source_bytes, &full[0]);
  }
  __syncthreads();
  BoxWall wall{boxes, full};
  wall.consumer_wait(0);
  climb(run, rows, wall);
  // A last, short launch leaves boxes unread: they must land before the block's memory is given
  // away.
  for (int i = 0; i < Iso::height; i += iso_rows) wall.consumer_wait(i);
}

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    strips(Walk walk, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<SharedStorage<S, TmaWall<S>>*>(memory);
  TmaWall<S>::prepare(shared.wall);
  __syncthreads();
  if (!computes<S>()) {
    TmaWall<S>::produce(shared.wall, map, walk.first_row, S::stages_of(walk.steps));
    return;
  }
  TmaWall<S> wall(shared.wall);
  Walker<S> walker(walk.wall.columns);
  BlockMail<S> mail(shared.mail, walker);
  walk_strips<S>(walk, walker, wall, mail);
}

template <class Schedule, class M>
ConfigOf<Problem> strips_by_tma() {
  using S = Strips<Schedule, M>;
  using Box = typename TmaWall<S>::Box;
  return strips_config<S>(
      "", strips<S>, sizeof(SharedStorage<S, TmaWall<S>>), TmaWall<S>::stages_in_flight,
      [](const Problem& p) { return std::tuple(tensor_map(p.wall, Box::rows, Box::columns)); });
}

ConfigOf<Problem> iso(Start start) {
  return pyramid_config(
      "", pyramid, sizeof(int) * Iso::threads * (Iso::height + 1),
      {{"stage_rows", iso_rows}, {"stages", iso_boxes}}, start,
      [](const Problem& p) { return std::tuple(tensor_map(p.wall, iso_rows, Iso::threads)); });
}

// Rows per stage, stages, producer warps
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::tma,
    {iso(Start::in_turn), iso(Start::dependent), strips_by_tma<Tall2, Movement<28, 3, 1>>(),
     strips_by_tma<Tall3, Movement<36, 3, 1>>(), strips_by_tma<Tall3Close, Movement<40, 3, 1>>(),
     strips_by_tma<Middle, Movement<4, 6, 1>>(), strips_by_tma<MiddleClose, Movement<4, 6, 1>>(),
     strips_by_tma<Wide8, Movement<2, 3, 1>>(),
     strips_by_tma<Wide8, Movement<2, 3, 1, 0, 1, 0, 6>>(),
     strips_by_tma<Wide25, Movement<1, 6, 1>>()},
    needs_groups);

}  // namespace
}  // namespace amasia::pathfinder
