// Trailing updates by three products of tf32 (tf32x3_tile.cuh), for the schedules called `-tf32x3`
// (sm_90a): C -= L U, where a group's panels lie split into hi and lo, U's transposed as well
// (Problem::left, right). A block has a tile of 128 x 128 and three stages of its slices, which one
// warpgroup fills and two multiply. It does not walk to another tile: the chain's kernels, which
// have priority, find an SM whenever a tile is done.
//
// Strategies differ in the Feed, a Producer (warp_roles.cuh). It also has
//
// - View, view(problem): nothing or tensor maps. bytes_in_flight.
// - produce(stages, view, problem, place): all slices. By threads 0 to 127.
#pragma once

#include <vector>

#include "apps/common/tf32_parts.cuh"
#include "apps/common/tf32x3_tile.cuh"
#include "apps/common/warp_roles.cuh"
#include "apps/lud/blocked.hpp"
#include "apps/lud/early_updates.cuh"
#include "harness/variant.hpp"
#include "variants/device/dependent_launch.cuh"
#include "variants/geometry/box.hpp"
#include "variants/ptx/global_memory.cuh"

namespace amasia::lud {
namespace {

struct TensorTile {
  using Slice = matrix::Tf32x3Slice<panel_width>;
  static constexpr int k = matrix::terms_of_tensor_sum;
  static constexpr int rows = Slice::rows_a;  // of the parts of L, and of those of U
  static_assert(Slice::rows_b == rows);
  static constexpr int slice_bytes = Slice::a_bytes + Slice::b_bytes;
};
using TensorStages = matrix::SliceStages<3, TensorTile::slice_bytes>;

/// Where a tile's operands lie in the parts.
struct PlaceInParts {
  int room, left_row, right_row, slices;
};

/// Has the tile of C brought to L2 while the products are computed: a cache line per thread and
/// turn, by the multiplying threads.
__device__ __forceinline__ void prefetch_tile(const Grid<float>& matrix, const TileProduct& t,
                                              int thread) {
  constexpr int of_line = 32, across = panel_width / of_line;  // elements; lines of a row
#pragma unroll 1
  for (int line = thread; line < panel_width * across;
       line += matrix::WarpgroupsInTurn<>::threads) {
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
      static_cast<int>(threadIdx.x) % matrix::warpgroup + warpgroup * matrix::warpgroup;
  prefetch_tile(p.matrix, t, thread);
  float c[panel_width / 2] = {}, sum[panel_width / 2] = {};
  wgmma::hold(c);
  const matrix::WarpgroupsInTurn<> turn{warpgroup};
  TensorStages::State state;
  turn.begin();
#pragma unroll 1
  for (int slice = 0; slice < slices; ++slice, ++state) {
    stages.wait(state);
    turn.wait();
    const unsigned char* const a = stages.at(state);
    Slice::multiply(c, sum, a, a + Slice::a_bytes, warpgroup, [&] { turn.let_go(); });
    matrix::release<Feed>(stages.empty(state));
  }
  turn.end();
  if (follows) wait_for_predecessor();
  subtract_from(p.matrix, t, sum, thread);
}

template <class Feed>
__global__ void __launch_bounds__(matrix::role_threads, 1)
    tensor_update(const __grid_constant__ typename Feed::View view, const Problem p,
                  const Products products) {
  // Elsewhere nobody launches it: nothing of it is compiled for those who would not run it.
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) unsigned char shared[];
  const TensorStages stages{shared};
  admit_successor();  // early_updates.cuh
  const TileProduct t = products.tile(Feed::cluster, static_cast<int>(blockIdx.x));
  const PlaceInParts place{products.room, 2 * (t.c_row - products.from()),
                           2 * (t.c_column - products.from()), t.depth / TensorTile::k};
  if (threadIdx.x == 0) {
    stages.init(Feed::arrivals, Feed::cluster * (matrix::WarpgroupsInTurn<>::threads / 32));
  }
  Feed::enter();
  if (const int role = matrix::role(); role == 0) {
    registers::decrease<Feed::registers>();
    Feed::produce(stages, view, p, place);
    __syncwarp();
    Feed::leave();
  } else {
    registers::increase<matrix::of_consumer<Feed>>();
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
  static constexpr int rows_at_once = matrix::warpgroup / 8;
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
struct PieceFeed : matrix::ForOneBlock {
  struct View {};
  static View view(const Problem&) { return {}; }
  static constexpr int arrivals = matrix::warpgroup / 32;
};

/// The launches of one update: the group's panels are split, and multiplied.
template <class Feed>
struct TensorUpdate {
  LaunchShape shape{dim3(1), dim3(matrix::role_threads), TensorStages::bytes, Feed::cluster};
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
    return {{reinterpret_cast<const void*>(tensor_update<Feed>), matrix::role_threads,
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
