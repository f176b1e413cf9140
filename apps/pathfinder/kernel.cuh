// The computation of pathfinder, once for all variants: one cell, and several rows of a window that
// a warp keeps in registers.
#pragma once

#include <tuple>

#include "apps/pathfinder/pathfinder.hpp"

namespace amasia::pathfinder {

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

/// Cost of a path that adds `walls` to `from`, if it is cheaper than `other`: one DPX instruction
/// (VIADDMNMX) on sm_90.
__device__ inline int cheaper(int from, int walls, int other) {
  return __viaddmin_s32(from, walls, other);
}

/// One row as far as the lane's own columns go: nothing comes in from the sides.
template <int C>
__device__ __forceinline__ void step_alone(int (&cost)[C], const int* wall) {
  int left = cost[0];
#pragma unroll
  for (int c = 0; c < C; ++c) {
    const int above = cost[c];
    cost[c] = step(wall[c], left, above, cost[c + 1 < C ? c + 1 : c]);
    left = above;
  }
}

/// Advances a window by ROUND = 1 or 2 rows. Lane l holds the costs of columns l*C ... l*C+C-1.
///
/// The chain from row to row bounds a tall grid, and its longest link is the shuffle that brings
/// the neighbouring lane's costs (~25 cycles). So a round asks for them first and computes
/// meanwhile what needs no neighbour. Each cost that arrives then adds one path to the minimum.
/// With walls summed up beforehand that is one instruction, two at the outermost column.
///
///   two rows, left side; l1, l2 are the costs left of the lane's columns 0, 1, ...
///     column 0:  l2 -> (-1) -> 0,  l1 -> (-1) -> 0,  l1 -> (0) -> 0,  and its own 0 -> (-1) -> 0
///     column 1:  l1 -> (0) -> 1
///
/// The outermost lanes see themselves as neighbours: each row spoils one column at each end of the
/// window, which the halo allows for.
template <int C, int ROUND>
__device__ __forceinline__ void advance(int (&cost)[C], const WallRound<C, ROUND>& wall) {
  static_assert(ROUND == 1 || (ROUND == 2 && C >= 4));
  constexpr unsigned all = 0xffffffffu;
  const int l1 = __shfl_up_sync(all, cost[C - 1], 1);
  const int r1 = __shfl_down_sync(all, cost[0], 1);
  if constexpr (ROUND == 1) {
    const int* row = wall.height[0];
    step_alone(cost, row);
    cost[0] = cheaper(l1, row[0], cost[0]);
    cost[C - 1] = cheaper(r1, row[C - 1], cost[C - 1]);
  } else {
    const int l2 = __shfl_up_sync(all, cost[C - 2], 1);
    const int r2 = __shfl_down_sync(all, cost[1], 1);
    const int first = cost[0], last = cost[C - 1];
    const int* row1 = wall.height[0] + 1;  // columns -1 ... C
    const int* row2 = wall.height[1] + 1;  // columns 0 ... C-1
    const int left_outside = row1[-1] + row2[0], left_inside = row1[0] + row2[0];
    const int right_outside = row1[C] + row2[C - 1], right_inside = row1[C - 1] + row2[C - 1];
    step_alone(cost, row1);
    step_alone(cost, row2);
    cost[0] = cheaper(first, left_outside, cost[0]);
    cost[C - 1] = cheaper(last, right_outside, cost[C - 1]);

    cost[0] = cheaper(l1, left_outside < left_inside ? left_outside : left_inside, cost[0]);
    cost[C - 1] =
        cheaper(r1, right_outside < right_inside ? right_outside : right_inside, cost[C - 1]);
    cost[1] = cheaper(l1, row1[0] + row2[1], cost[1]);
    cost[C - 2] = cheaper(r1, row1[C - 1] + row2[C - 2], cost[C - 2]);
    cost[0] = cheaper(l2, left_outside, cost[0]);
    cost[C - 1] = cheaper(r2, right_outside, cost[C - 1]);
  }
}

#endif

}  // namespace amasia::pathfinder
