// The computation of pathfinder, once for all variants: one cell, and several rows of a window that
// a warp keeps in registers.
#pragma once

#include <tuple>

#include "apps/pathfinder/pathfinder.hpp"

namespace amasia::pathfinder {

/// A cost no path reaches, low enough that a billion rows of walls can be added to it.
inline constexpr int unreachable = 1 << 30;

/// Cost of a cell from the three above it. On sm_90 the minimum is one DPX instruction (VIMNMX3).
AMASIA_HD inline int step(int wall, int left, int above, int right) {
  const int lower = left < above ? left : above;
  return wall + (lower < right ? lower : right);
}

/// What a kernel takes besides its run: nothing. (tma: the tensor map.)
struct NoArguments {
  std::tuple<> operator()(const Problem&) const { return {}; }
};

#ifdef __CUDACC__

/// ROUND rows of wall as one lane needs them: its own C columns and, in row r, the ROUND-1-r
/// columns on either side that it computes along with its own.
template <int C, int ROUND>
struct WallRound {
  int height[ROUND][C + 2 * (ROUND - 1)];  // column c of the lane at [c + ROUND - 1]
};

/// Completes a round with the walls of the neighbouring lanes. Not on the chain from row to row:
/// call it a round ahead.
template <int C, int ROUND>
__device__ __forceinline__ void spread(WallRound<C, ROUND>& wall) {
  constexpr unsigned all = 0xffffffffu;
#pragma unroll
  for (int r = 0; r < ROUND; ++r) {
#pragma unroll
    for (int k = 1; k < ROUND - r; ++k) {
      wall.height[r][ROUND - 1 - k] = __shfl_up_sync(all, wall.height[r][ROUND - 1 + C - k], 1);
      wall.height[r][ROUND - 2 + C + k] = __shfl_down_sync(all, wall.height[r][ROUND - 2 + k], 1);
    }
  }
}

/// Advances a window by ROUND rows. Lane l holds the costs of columns l*C ... l*C+C-1 of the
/// window.
///
/// One round of shuffles brings ROUND costs from each neighbouring lane; the lane then computes its
/// neighbours' columns along with its own, one fewer per row. The chain from row to row bounds a
/// tall grid: one shuffle (~23 cycles) per row with ROUND = 1, per two rows with ROUND = 2. The
/// outermost lanes see themselves as neighbours: each row spoils one column at each end of the
/// window, which the halo allows for.
template <int C, int ROUND>
__device__ __forceinline__ void advance(int (&cost)[C], const WallRound<C, ROUND>& wall) {
  constexpr unsigned all = 0xffffffffu;
  int wide[C + 2 * ROUND];  // column c of the lane at [c + ROUND]
#pragma unroll
  for (int k = 0; k < ROUND; ++k) {
    wide[k] = __shfl_up_sync(all, cost[C - ROUND + k], 1);
    wide[ROUND + C + k] = __shfl_down_sync(all, cost[k], 1);
  }
#pragma unroll
  for (int c = 0; c < C; ++c) wide[ROUND + c] = cost[c];
#pragma unroll
  for (int r = 0; r < ROUND; ++r) {
    const int margin = ROUND - 1 - r;  // columns computed beyond the lane's own
    int left = wide[r];
#pragma unroll
    for (int c = -margin; c < C + margin; ++c) {
      const int above = wide[ROUND + c];
      wide[ROUND + c] = step(wall.height[r][c + ROUND - 1], left, above, wide[ROUND + c + 1]);
      left = above;
    }
  }
#pragma unroll
  for (int c = 0; c < C; ++c) cost[c] = wide[ROUND + c];
}

#endif

}  // namespace amasia::pathfinder
