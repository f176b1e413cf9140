// A whole tile of a panel, 128 x 128, solved by one block. A warp has 32 columns of U's panel, or
// 32 rows of L's, over all 128 steps of the substitution, and waits for no other warp. The small
// tiles of SolveTile put more SMs to work; this one takes an SM a third of their time.
#pragma once

#include "apps/lud/tiles.cuh"

namespace amasia::lud {

/// A square of 32 x 32 that a tile of a panel needs: where it lies, and whether its chunks are
/// permuted in shared memory as those of A are. The diagonal sub-blocks of Problem::upper are
/// permuted in global memory already.
struct PanelSquare {
  Source source;
  int row, column;
  bool permuted;
};

/// The tile in four steps of 32 unknowns, of X in L X = B or X U = B. Step s takes s + 1 squares of
/// the triangle and a square of B from each warp, which X replaces. The squares lie in shared
/// memory in the order in which they are needed.
struct PanelTile {
  static constexpr int steps = panel_width / warp_edge, warps = chain_warps;
  static constexpr int threads = warps * 32;
  // Two, or one beside a block of an update.
  static constexpr int blocks_per_sm = 2;
  static constexpr int k = warp_edge, scratch_bytes = 0;
  static constexpr int square_bytes = ChainTile::box_bytes;

  /// Squares of a step, first those of the triangle, and of the steps before it.
  AMASIA_HD static constexpr int triangles(int step) { return step + 1; }
  AMASIA_HD static constexpr int squares(int step) { return triangles(step) + warps; }
  AMASIA_HD static constexpr int squares_before(int step) {
    return step * (step + 1) / 2 + step * warps;
  }
  static constexpr int all_bytes = (steps * (steps + 1) / 2 + steps * warps) * square_bytes;

  AMASIA_HD static constexpr unsigned place(int step, int square) {
    return static_cast<unsigned>((squares_before(step) + square) * square_bytes);
  }
  /// Of warp `warp`'s square of B and X.
  AMASIA_HD static constexpr unsigned place_of_x(int step, int warp) {
    return place(step, triangles(step) + warp);
  }
  AMASIA_HD static constexpr bool is_beside(const TileProduct& t) {
    return t.a_source == Source::lower;
  }

  AMASIA_HD static constexpr PanelSquare x(const TileProduct& t, int step, int warp) {
    const bool beside = is_beside(t);
    return {Source::matrix, t.c_row + (beside ? step : warp) * warp_edge,
            t.c_column + (beside ? warp : step) * warp_edge, true};
  }
  /// The square of L or U that multiplies the unknowns of step `earlier`; of the same step the
  /// triangle on the diagonal.
  AMASIA_HD static constexpr PanelSquare triangle(const TileProduct& t, int step, int earlier) {
    return is_beside(t) ? PanelSquare{Source::lower, step * warp_edge, earlier * warp_edge, true}
                        : PanelSquare{Source::upper, earlier * warp_edge, step * warp_edge, false};
  }
  AMASIA_HD static constexpr PanelSquare square(const TileProduct& t, int step, int i) {
    return i < triangles(step) ? triangle(t, step, i) : x(t, step, i - triangles(step));
  }

  /// One warp's part of the tile, from squares at shared address `first`. The mover has
  ///
  /// - wait(step): the step's squares are here, for the calling warp
  /// - store(step): the warp's square of X is solved
  template <bool BESIDE, class Mover>
  static __device__ __forceinline__ void solve(Mover& mover, unsigned first, int thread) {
    const int warp = thread / 32, lane = thread % 32;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
      mover.wait(step);
      const unsigned own = first + place_of_x(step, warp);
      if (step > 0) {
        ChainTile::Accumulator acc;
        acc.clear();
#pragma unroll 1
        for (int earlier = 0; earlier < step; ++earlier) {
          const unsigned solved = first + place_of_x(earlier, warp);
          const unsigned of_triangle = first + place(step, earlier);
          ChainTile::multiply<BESIDE>(acc, BESIDE ? of_triangle : solved,
                                      BESIDE ? solved : of_triangle, thread, [](int) {});
        }
        subtract(own, acc, lane);
        __syncwarp();
      }
      substitute<BESIDE>(first + place(step, step), own, lane);
      __syncwarp();
      mover.store(step);
    }
  }

  static __device__ __forceinline__ void subtract(unsigned square,
                                                  const ChainTile::Accumulator& acc, int lane) {
    ChainTile::each_chunk(acc, square, lane, [](unsigned at, const float* c) {
      async::store_float4(at, less(async::load_float4(at), c));
    });
  }

  /// Solves T x = b in place, a right-hand side per lane: a column of the square (BESIDE), T = L
  /// with a unit diagonal, or a row, T = U^T with reciprocals on its diagonal. T is read by squares
  /// of 4 x 4, one ahead of its use. A corner on T's diagonal is a chain of four; its links stand
  /// between the squares below the corner before it.
  template <bool BESIDE>
  static __device__ __forceinline__ void substitute(unsigned triangle, unsigned square, int lane) {
    constexpr int four = 4, groups = warp_edge / four;
    float x[warp_edge];
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      if (BESIDE) {
#pragma unroll
        for (int q = 0; q < four; ++q) {
          x[four * g + q] = async::load_float(element_at(square, four * g + q, lane));
        }
      } else {
        load4(x + four * g, ChainTile::place(square, lane, g));
      }
    }
    float corner[four][four], below[2][four][four];
    const auto fetch = [&](float(&to)[four][four], int row, int column) {
#pragma unroll
      for (int q = 0; q < four; ++q)
        load4(to[q], ChainTile::place(triangle, four * row + q, column));
    };
    fetch(corner, 0, 0);
    fetch(below[0], 1, 0);
    const auto link = [&](int g, int q) {  // of the corner's chain: x[4 g + q] is done
      float* const own = x + four * g;
      if constexpr (!BESIDE) own[q] *= corner[q][q];
#pragma unroll
      for (int r = q + 1; r < four; ++r) own[r] = fmaf(-corner[r][q], own[q], own[r]);
    };
#pragma unroll
    for (int q = 0; q < four; ++q) link(0, q);
    int buffer = 0;
#pragma unroll
    for (int column = 0; column + 1 < groups; ++column) {
      fetch(corner, column + 1, column + 1);
#pragma unroll
      for (int row = column + 1; row < groups; ++row, buffer ^= 1) {
        if (row + 1 < groups) {
          fetch(below[buffer ^ 1], row + 1, column);
        } else if (column + 2 < groups) {
          fetch(below[buffer ^ 1], column + 2, column + 1);
        }
#pragma unroll
        for (int p = 0; p < four; ++p) {
#pragma unroll
          for (int q = 0; q < four; ++q) {
            float& own = x[four * row + q];
            own = fmaf(-below[buffer][q][p], x[four * column + p], own);
          }
        }
        if (row - column - 1 < four) link(column + 1, row - column - 1);
      }
#pragma unroll
      for (int q = groups - 1 - column; q < four; ++q) link(column + 1, q);  // what is left
    }
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      float* const solved = x + four * g;
      if (BESIDE) {
#pragma unroll
        for (int q = 0; q < four; ++q) {
          async::store_float(element_at(square, four * g + q, lane), solved[q]);
        }
      } else {
        async::store_float4(ChainTile::place(square, lane, g),
                            make_float4(solved[0], solved[1], solved[2], solved[3]));
      }
    }
  }

 private:
  static __device__ __forceinline__ unsigned element_at(unsigned square, int row, int column) {
    return ChainTile::place(square, row, column / 4) + static_cast<unsigned>(4 * (column % 4));
  }
};

}  // namespace amasia::lud
