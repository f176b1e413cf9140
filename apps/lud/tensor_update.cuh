// Trailing updates by three products of tf32 (tf32x3_tile.cuh), for the schedules called `-tf32x3`
// (sm_90a): C -= L U, where a group's panels lie split into hi and lo, U's transposed as well
// (Problem::left, right). A block has a tile of 128 x 128 and three stages of its slices, which one
// warpgroup fills and two multiply. It does not walk to another tile: the chain's kernels, which
// have priority, find an SM whenever a tile is done.
//
// Strategies differ in the Feed:
//
// - View, view(problem): nothing or tensor maps. cluster: blocks, one below the other.
// - registers: those a thread of the filling warpgroup keeps.
// - arrivals: per stage, that say it is full. bytes_in_flight.
//
// Its functions:
//
// - produce(stages, view, problem, place): all slices. By threads 0 to 127.
// - enter(), leave(): when the barriers are there, before anyone uses them; before the block ends.
// - release(empty): what a multiplying warp does when it has read a stage.
#pragma once

#include <vector>

#include "apps/common/tf32_parts.cuh"
#include "apps/common/tf32x3_tile.cuh"
#include "apps/lud/blocked.hpp"
#include "apps/lud/early_updates.cuh"
#include "harness/variant.hpp"
#include "variants/device/dependent_launch.cuh"
#include "variants/geometry/box.hpp"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/prefetch.cuh"
#include "variants/ptx/registers.cuh"

namespace amasia::lud {
namespace {

struct TensorTile {
  using Slice = matrix::Tf32x3Slice<panel_width>;
  static constexpr int k = matrix::terms_of_tensor_sum;
  static constexpr int rows = Slice::rows_a;  // of the parts of L, and of those of U
  static_assert(Slice::rows_b == rows);
  static constexpr int slice_bytes = Slice::a_bytes + Slice::b_bytes;
  static constexpr int warpgroup = 128, threads = 3 * warpgroup;
  static constexpr int multiplying_warps = matrix::WarpgroupsInTurn::threads / 32;
  /// Registers that the launch bounds give all threads, in units of a warpgroup's.
  static constexpr int all_registers = 3 * registers::even_share(3);
  static constexpr int multiplying_registers(int filling) {
    return (all_registers - filling) / 2 / 8 * 8;
  }
};

/// Where a tile's operands lie in the parts.
struct PlaceInParts {
  int room, left_row, right_row, slices;
};

struct TensorStages {
  static constexpr int count = 3;
  using State = PipelineState<count>;
  static constexpr std::size_t bytes =
      count * (std::size_t{TensorTile::slice_bytes} + 2 * sizeof(tma::Barrier));
  unsigned char* slices;

  __device__ unsigned char* at(const State& s) const {
    return slices + s.index * TensorTile::slice_bytes;
  }
  __device__ tma::Barrier* full(const State& s) const {
    return reinterpret_cast<tma::Barrier*>(slices + count * TensorTile::slice_bytes) + s.index;
  }
  __device__ tma::Barrier* empty(const State& s) const { return full(s) + count; }
  __device__ void init(int arrivals, int reading_warps) const {
    for (State s; s.phase == 0; ++s) {
      tma::init(full(s), static_cast<unsigned>(arrivals));
      tma::init(empty(s), static_cast<unsigned>(reading_warps));
    }
    tma::fence_init();
  }
  /// The first round finds every stage empty.
  __device__ void acquire(const State& s) const { tma::wait(empty(s), s.phase ^ 1); }
  __device__ void wait(const State& s) const { tma::wait(full(s), s.phase); }
};

/// A Feed of a block alone.
struct ForOneBlock {
  static constexpr int cluster = 1;
  static __device__ void enter() { __syncthreads(); }
  static __device__ void release(tma::Barrier* empty) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(empty);
  }
  static __device__ void leave() {}
};

/// Has the tile of C brought to L2 while the products are computed: a cache line per thread and
/// turn, by the multiplying threads.
__device__ __forceinline__ void prefetch_tile(const Grid<float>& matrix, const TileProduct& t,
                                              int thread) {
  constexpr int of_line = 32, across = panel_width / of_line;  // elements; lines of a row
#pragma unroll 1
  for (int line = thread; line < panel_width * across; line += matrix::WarpgroupsInTurn::threads) {
    const int row = t.c_row + line / across, column = t.c_column + line % across * of_line;
    if (row < matrix.rows && column < matrix.columns)
      global::prefetch_line(&matrix.at(row, column));
  }
}

/// C -= sum. wgmma leaves a lane two neighbouring elements of every eight columns, in two rows.
__device__ __forceinline__ void subtract_from(const Grid<float>& matrix, const TileProduct& t,
                                              const float (&sum)[panel_width / 2], int thread) {
  constexpr int at_once = 8;
  const int first_row = t.c_row + thread / 32 * 16 + thread % 32 / 4;
  const int column = t.c_column + thread % 4 * 2;
  const int columns_left = static_cast<int>(matrix.pitch) - column;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = first_row + 8 * half;
    if (row >= matrix.rows) return;
    float* const c = &matrix.at(row, column);
#pragma unroll
    for (int first = 0; first < panel_width / 8; first += at_once) {
      float2 old[at_once] = {};
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        const int at = 8 * (first + j);
        if (at < columns_left) old[j] = *reinterpret_cast<const float2*>(c + at);
      }
#pragma unroll
      for (int j = 0; j < at_once; ++j) {
        const int at = 8 * (first + j);
        const float* const x = sum + 4 * (first + j) + 2 * half;
        if (at < columns_left) {
          *reinterpret_cast<float2*>(c + at) = make_float2(old[j].x - x[0], old[j].y - x[1]);
        }
      }
    }
  }
}

/// The multiplying threads, 0 to 255.
template <class Feed>
__device__ __forceinline__ void multiply_tile(const TensorStages& stages, const Problem& p,
                                              const TileProduct& t, int slices, int warpgroup,
                                              bool follows) {
  using Slice = TensorTile::Slice;
  const int thread =
      static_cast<int>(threadIdx.x) % TensorTile::warpgroup + warpgroup * TensorTile::warpgroup;
  prefetch_tile(p.matrix, t, thread);
  float c[panel_width / 2] = {}, sum[panel_width / 2] = {};
  wgmma::hold(c);
  const matrix::WarpgroupsInTurn turn{warpgroup};
  TensorStages::State state;
  turn.begin();
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice, ++state) {
    stages.wait(state);
    turn.wait();
    const unsigned char* const a = stages.at(state);
    Slice::multiply(c, sum, a, a + Slice::a_bytes, warpgroup, [&] { turn.let_go(); });
    Feed::release(stages.empty(state));
  }
  turn.end();
  if (follows) wait_for_predecessor();
  subtract_from(p.matrix, t, sum, thread);
}

template <class Feed>
__global__ void __launch_bounds__(TensorTile::threads, 1)
    tensor_update(const __grid_constant__ typename Feed::View view, const Problem p,
                  const Products products) {
  constexpr int multiplying = TensorTile::multiplying_registers(Feed::registers);
  static_assert(Feed::registers + 2 * multiplying <= TensorTile::all_registers,
                "more than the block has: the multiplying threads would wait for ever");
  // Elsewhere nobody launches it: nothing of it is compiled for those who would not run it.
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) unsigned char shared[];
  const TensorStages stages{shared};
  admit_successor();  // early_updates.cuh
  const TileProduct t = products.tile(Feed::cluster, static_cast<int>(blockIdx.x));
  const PlaceInParts place{products.room, 2 * (t.c_row - products.from()),
                           2 * (t.c_column - products.from()), t.depth / TensorTile::k};
  if (threadIdx.x == 0) stages.init(Feed::arrivals, Feed::cluster * TensorTile::multiplying_warps);
  Feed::enter();
  // The same for all lanes of a warp, which the compiler has to know.
  const int role =
      __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / TensorTile::warpgroup, 0);
  if (role == 0) {
    registers::decrease<Feed::registers>();
    Feed::produce(stages, view, p, place);
    __syncwarp();
    Feed::leave();
  } else {
    registers::increase<multiplying>();
    multiply_tile<Feed>(stages, p, t, place.slices, role - 1, products.follows);
    __syncwarp();
    Feed::leave();
  }
#else
  __trap();
#endif
}

/// The 16-byte pieces of a slice that a thread of the filling warpgroup brings: of every sixteenth
/// row of the parts of L, then of U, which lie in shared memory as a box would.
struct PiecesOfParts {
  static constexpr int rows_at_once = TensorTile::warpgroup / 8;
  static constexpr int of_operand = TensorTile::rows / rows_at_once, count = 2 * of_operand;
  const float *left, *right;
  std::int64_t left_step, right_step;  // elements from piece to piece
  unsigned to;                         // in a stage

  __device__ PiecesOfParts(const Problem& p, const PlaceInParts& place) {
    const int row = static_cast<int>(threadIdx.x) / 8, chunk = static_cast<int>(threadIdx.x) % 8;
    left = &p.left[place.room].at(place.left_row + row, 4 * chunk);
    right = &p.right[place.room].at(place.right_row + row, 4 * chunk);
    left_step = rows_at_once * p.left[0].pitch;
    right_step = rows_at_once * p.right[0].pitch;
    to = static_cast<unsigned>(row * 128 + 16 * swizzled_chunk(row, chunk));
  }
  /// move(place in the stage, source) for pieces [FIRST, FIRST + COUNT) of this slice.
  template <int FIRST, int COUNT, class Move>
  __device__ __forceinline__ void each(Move&& move) const {
    static_assert(FIRST % of_operand + COUNT <= of_operand, "of one operand");
    const bool of_left = FIRST < of_operand;
    const float* from =
        (of_left ? left : right) + FIRST % of_operand * (of_left ? left_step : right_step);
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      move(to + static_cast<unsigned>((FIRST + i) * rows_at_once * 128), from);
      from += of_left ? left_step : right_step;
    }
  }
  __device__ void next_slice() {
    left += TensorTile::k;
    right += TensorTile::k;
  }
};

/// What Feeds of pieces have in common.
struct PieceFeed : ForOneBlock {
  struct View {};
  static View view(const Problem&) { return {}; }
  static constexpr int arrivals = TensorTile::warpgroup / 32;

  /// What the calling thread has put into a stage is there.
  static __device__ __forceinline__ void hand_over(tma::Barrier* full) {
    tma::fence_async_proxy();  // wgmma reads as the engine does
    __syncwarp();
    if (threadIdx.x % 32 == 0) tma::arrive(full);
  }
};

/// The launches of one update: the group's panels are split, and multiplied.
template <class Feed>
struct TensorUpdate {
  LaunchShape shape{dim3(1), dim3(TensorTile::threads), TensorStages::bytes, Feed::cluster};
  typename Feed::View view;

  explicit TensorUpdate(const Problem& p) : view(Feed::view(p)) {
    allow_launch(reinterpret_cast<const void*>(tensor_update<Feed>), shape);
  }
  /// The group's panels as parts, into the update's room.
  void split(const Problem& p, const Products& products, cudaStream_t stream) const {
    const int from = products.from(), column = products.first * panel_width;
    const int left = products.n - from, depth = products.count * panel_width;
    const auto parts = [&](const Grid<float>& all) {
      const std::int64_t rows = round_up(left, panel_width);
      return Grid<float>{all.data, matrix::rows_of_parts(rows), depth, all.pitch};
    };
    const Grid<float>& m = p.matrix;
    matrix::launch_split({&m.at(from, column), left, depth, m.pitch}, parts(p.left[products.room]),
                         false, stream);
    matrix::launch_split({&m.at(column, from), depth, left, m.pitch}, parts(p.right[products.room]),
                         true, stream);
  }
  void operator()(const Problem& p, const Products& products, cudaStream_t stream,
                  cudaEvent_t begun) const {
    LaunchShape grid = shape;
    grid.grid.x = static_cast<unsigned>(products.blocks(Feed::cluster));
    launch_announced(tensor_update<Feed>, grid, stream, begun, view, p, products);
  }
  static std::vector<KernelUse> uses() {
    const auto split = [](auto kernel) -> KernelUse {
      return {reinterpret_cast<const void*>(kernel), matrix::splitting_threads, 0, 1, 0};
    };
    return {{reinterpret_cast<const void*>(tensor_update<Feed>), TensorTile::threads,
             TensorStages::bytes, Feed::cluster, Feed::bytes_in_flight},
            split(matrix::split_rows),
            split(matrix::split_transposed)};
  }
};

/// For a strategy that brings no operand that wgmma can read.
struct NoFeed {};
template <>
struct TensorUpdate<NoFeed> {
  explicit TensorUpdate(const Problem&) {}
  void split(const Problem&, const Products&, cudaStream_t) const {}
  void operator()(const Problem&, const Products&, cudaStream_t, cudaEvent_t) const {}
  static std::vector<KernelUse> uses() { return {}; }
};

}  // namespace
}  // namespace amasia::lud
