// pathfinder/tma: wall boxes by tensor map. One thread asks for rows x columns with halo and all;
// the copy engine computes the addresses, clips at the edges of the grid and reports the bytes to
// an mbarrier. No thread spends registers or instructions on addresses, no block barrier on
// arrival.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "apps/pathfinder/tma_wall.cuh"
#include "variants/device/tensor_map.hpp"
#include "variants/geometry/ring.hpp"

namespace amasia::pathfinder {
namespace {

constexpr int iso_rows = 4;  // of a box: computing starts after the first
constexpr int iso_boxes = Iso::height / iso_rows;

struct BoxWall {
  const int (&boxes)[iso_boxes][iso_rows * Iso::threads];
  tma::Barrier* full;
  __device__ void ready(int i) {
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
    tma::load_bytes(rows.above + (begin - column), run.source + begin, source_bytes, &full[0]);
  }
  __syncthreads();
  BoxWall wall{boxes, full};
  wall.ready(0);
  climb(run, rows, wall);
  // A last, short launch leaves boxes unread: they must land before the block's memory is given
  // away.
  for (int i = 0; i < Iso::height; i += iso_rows) wall.ready(i);
}

template <class S>
struct Shared {
  typename TmaWall<S>::Storage wall;
  typename BlockMail<S>::Storage mail;
};

template <class S>
__global__ void __launch_bounds__(S::threads, S::blocks_per_sm)
    strips(Walk walk, const __grid_constant__ CUtensorMap map) {
  extern __shared__ __align__(128) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<S>*>(memory);
  TmaWall<S> wall{shared.wall};
  wall.prepare();
  __syncthreads();
  if (threadIdx.x >= S::walkers) {
    wall.produce(map, walk.first_row, static_cast<int>(ceil_div(walk.steps, S::stage_rows)));
    return;
  }
  Walker<S> walker(walk.wall.columns);
  BlockMail<S> mail(shared.mail, walker);
  walk_strips<S>(walk, walker, wall, mail);
}

template <class S>
ConfigOf<Problem> config(const char* name) {
  return strips_config<S>(name, strips<S>, sizeof(Shared<S>), [](const Problem& p) {
    return std::tuple(tensor_map(p.wall, S::stage_rows, S::panel_columns));
  });
}

//                     warps, columns per lane, stride, exchanges, rows per stage, stages, round,
//                     blocks per SM, producer warps, panels
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::tma,
    {pyramid_config(
         pyramid, sizeof(int) * Iso::threads * (Iso::height + 1),
         [](const Problem& p) { return std::tuple(tensor_map(p.wall, iso_rows, Iso::threads)); }),
     config<Strips<4, 4, 48, 2, 40, 3, 2, 1, 1, 2>>("tall"),
     config<Strips<3, 12, 304, 1, 4, 6, 1, 1, 1, 4>>("middle"),
     config<Strips<25, 12, 304, 1, 1, 6, 1, 1, 1, 30>>("wide"),
     config<Strips<3, 4, 56, 2, 36, 3, 2, 1, 1>>("tall-3"),
     config<Strips<3, 4, 56, 2, 18, 4, 2, 1, 1>>("tall-18")});

}  // namespace
}  // namespace amasia::pathfinder
