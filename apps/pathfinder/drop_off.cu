// pathfinder/drop_off: each thread's next walls in its own slots (Svedin et al., Algorithm 3, whose
// example this app is). A wall is read once, by the thread that uses it, so nobody else need know
// that it has come: the thread waits for its own copies and no barrier is spent on the wall. The
// price: a thread copies what its windows' overlap makes it use, though a neighbour has copied it
// as well. Producer warps cannot exist here: a slot that another thread fills is not private.
#include "apps/pathfinder/pyramid.cuh"
#include "apps/pathfinder/strips.cuh"
#include "variants/copies/sliding_tile.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::pathfinder {
namespace {

template <int SLOTS>
struct SlotWall {
  const int* column;  // this thread's wall in the first row; nullptr outside the grid
  std::int64_t pitch;
  int steps;
  int (&slots)[SLOTS][Iso::threads];

  __device__ void produce(int i) {
    if (column != nullptr && i < steps) {
      async::copy<4>(&slots[i % SLOTS][threadIdx.x], column + i * pitch);
    }
    async::commit();
  }
  __device__ void consumer_wait(int i) {
    produce(i + SLOTS - 1);
    async::wait<SLOTS - 1>();
  }
  __device__ int at(int i) const { return slots[i % SLOTS][threadIdx.x]; }
};

/// SLOTS = 2 is Algorithm 3 as published: one element in flight while the one before it is used.
template <int SLOTS>
__global__ void __launch_bounds__(Iso::threads) pyramid(PyramidRun run) {
  __shared__ PyramidRows rows;
  __shared__ int slots[SLOTS][Iso::threads];
  const std::int64_t column = Iso::column(blockIdx.x, threadIdx.x);
  const bool inside = column >= 0 && column < run.wall.columns;
  const int* first = run.wall.data + run.first_row * run.wall.pitch + column;
  SlotWall<SLOTS> wall{inside ? first : nullptr, run.wall.pitch, run.steps, slots};
  admit_successor();
  for (int i = 0; i < SLOTS - 1; ++i) wall.produce(i);
  wait_for_predecessor();
  if (inside) async::copy<4>(&rows.above[threadIdx.x], run.source + column);
  async::commit();
  async::wait<0>();
  __syncthreads();  // neighbours read the source, too
  climb(run, rows, wall);
}

template <class S>
struct PrivateWall {
  static constexpr int pieces = S::lane_columns / 4;  // of 16 bytes, per row
  static constexpr unsigned piece_bytes = 16 * S::threads;
  static constexpr unsigned stage_bytes = S::stage_rows * pieces * piece_bytes;
  static constexpr bool engine = false;
  static constexpr int stages_in_flight = S::stages - 1;
  static_assert(S::stages >= 2);
  // Slot of a lane: 4 walls of a row. Lanes of a warp side by side, so that no bank is asked twice.
  using Storage = int4[S::stages][S::stage_rows][pieces][S::threads];
  // The lane's own piece of the wall: as high as a stage, as wide as the lane
  SlidingTile<Tile<int, S::stage_rows, S::lane_columns>, 1> source;
  const unsigned slots;
  PipelineState<S::stages> produced{}, read{};
  unsigned stage = 0;
  int to_produce = 0;

  __device__ PrivateWall(Storage& wall, const Walk& walk)
      : source{walk.wall,
               {walk.first_row, S::tile_column(blockIdx.x) + S::lane_column(threadIdx.x)},
               0},
        slots(async::held_address(&wall[0][0][0][threadIdx.x])) {}
  __device__ void produce() {
    if (--to_produce >= 0) {
      const unsigned to = slots + stage_bytes * produced.index;
      source.each([&](int k, const int* wall) {
        async::copy16<async::Cache::l1_too>(to + k * piece_bytes, wall);
      });
    }
    async::commit();
    ++produced;
  }
  __device__ void prologue(int stages) {
    to_produce = stages;
    for (int i = 0; i < S::stages - 1; ++i) produce();
  }
  __device__ void consumer_wait() {
    produce();  // into the slots this thread has read last
    async::wait<S::stages - 1>();
    stage = slots + stage_bytes * read.index;
  }
  __device__ int4 load(int row, int column) const {
    return async::load16(stage + (row * pieces + column / 4) * piece_bytes);
  }
  __device__ void consumer_release() { ++read; }
};

template <class Schedule, class M>
ConfigOf<Problem> strips() {
  using S = Strips<Schedule, M>;
  using Wall = PrivateWall<S>;
  static_assert(S::producers == 0, "a slot is filled by the thread that reads it");
  return strips_config<S>("", copied_strips<S, Wall>, sizeof(SharedStorage<S, Wall>),
                          Wall::stages_in_flight);
}

// Rows per stage, stages
const bool registered = register_variant<Problem>(
    "pathfinder", Strategy::drop_off,
    {pyramid_config("", pyramid<2>, sizeof(int) * Iso::threads, {{"slots", 2}}),
     pyramid_config("", pyramid<2>, sizeof(int) * Iso::threads, {{"slots", 2}}, Start::dependent),
     strips<Tall2, Movement<28, 3>>(), strips<Tall2, Movement<14, 2>>(),
     strips<Tall3, Movement<36, 3>>(), strips<Tall3Close, Movement<20, 4>>(),
     strips<Middle, Movement<4, 4>>(), strips<MiddleClose, Movement<4, 4>>(),
     strips<Wide8, Movement<1, 5>>(), strips<Wide8, Movement<1, 5, 0, 0, 1, 0, 8>>(),
     strips<Wide25, Movement<1, 5>>()},
    needs_groups);

}  // namespace
}  // namespace amasia::pathfinder
