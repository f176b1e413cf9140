// The computation of nw, once for all variants: one cell, and the cells of a lane's step.
#pragma once

#include "apps/nw/nw.hpp"

namespace amasia::nw {

/// max(a + b, c): one DPX instruction (VIADDMNMX) on sm_90.
AMASIA_HD inline int add_max(int a, int b, int c) {
#ifdef __CUDA_ARCH__
  return __viaddmax_s32(a, b, c);
#else
  return a + b > c ? a + b : c;
#endif
}

/// A score from its three predecessors. The one above comes last: a column of cells is then a chain
/// of one instruction each, everything else can be done before.
AMASIA_HD inline int cell(int north_west, int north, int west, int ref, int penalty) {
  return add_max(north, -penalty, add_max(west, -penalty, north_west + ref));
}

/// The right edge of what a lane has done: scores of its rows in the last column, and the one above
/// them.
template <int ROWS>
struct Edge {
  int west[ROWS];
  int corner;
};

/// Column c of the four that come next: `north` are the scores above them, `ref` becomes the
/// scores. After column 3 the corner has to move to north[3].
template <int ROWS>
AMASIA_HD inline void advance_column(Edge<ROWS>& edge, int c, const int (&north)[4],
                                     int (&ref)[ROWS][4], int penalty) {
  int north_west = c == 0 ? edge.corner : north[c - 1];
  int above = north[c];
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int r = 0; r < ROWS; ++r) {
    const int score = cell(north_west, above, edge.west[r], ref[r][c], penalty);
    north_west = edge.west[r];
    edge.west[r] = above = ref[r][c] = score;
  }
}

}  // namespace amasia::nw
