// The walk over the tiles of C (tile_walk.hpp) as kernels ask for it: in 32 bits, and by divisors
// that are known before the launch. A small matrix is multiplied in a few microseconds, and where a
// block's first tile lies stands before its first copy.
#pragma once

#include "apps/common/divisor.hpp"
#include "apps/common/tile_walk.hpp"

namespace amasia::gemm {

using matrix::Divisor;
using matrix::Range;
using matrix::TilePlace;

/// As matrix::Walk; for up to 2^27 steps, which are 2^20 x 2^20 elements in tiles of 64 x 128.
struct Walk : matrix::Walk {
  using Step = int;
  int total = 0;         // steps
  int log2_cluster = 0;  // clusters have a power of two of blocks
  int whole_groups = 0;  // groups of full height
  Divisor per_group, height, last_height;

  Walk() = default;
  AMASIA_HD Walk(std::int64_t m, std::int64_t n, std::int64_t k, int tile_m, int tile_n, int tile_k,
                 int blocks_of_cluster)
      : matrix::Walk(m, n, k, tile_m, tile_n, tile_k, blocks_of_cluster),
        total(static_cast<int>(matrix::Walk::steps())),
        whole_groups(rows / cluster / group),
        per_group(group * columns),
        height(group) {
    while (1 << log2_cluster < cluster) ++log2_cluster;
    const int left = rows / cluster % group;
    if (left > 0) last_height = Divisor(left);
  }
  AMASIA_HD int steps() const { return total; }
  AMASIA_HD bool has(Step step) const { return step < total; }
  AMASIA_HD Range run(Step) const { return {0, slices}; }
  AMASIA_HD TilePlace place(Step step, int rank) const {
    const int above = per_group.quotient(step);
    const int rest = step - above * per_group.value;
    const Divisor& rows_here = above < whole_groups ? height : last_height;
    const int column = rows_here.quotient(rest);
    const int row = above * group + rest - column * rows_here.value;
    return {(row << log2_cluster) + rank, column};
  }

  /// Where a worker is: a slice of a step.
  struct Position {
    Step step;
    int slice = 0;
    AMASIA_HD Position(const Walk&, Step first_step) : step(first_step) {}
    AMASIA_HD bool more(const Walk& walk) const { return walk.has(step); }
    /// To the next slice. True when it belongs to another step.
    AMASIA_HD bool advance(const Walk& walk, Step workers) {
      if (++slice < walk.slices) return false;
      slice = 0;
      step += workers;
      return true;
    }
  };
};

}  // namespace amasia::gemm
