// Whole tiles of panels without bulk copies: which 16-byte pieces a thread brings, and how a warp's
// solved square reaches global memory. The block brings the triangle together; each warp brings its
// own squares of B, so that after the first step it waits for itself alone.
#pragma once

#include "apps/lud/panel.cuh"
#include "apps/lud/pieces.cuh"

namespace amasia::lud {
namespace {

struct PanelRows {
  using Tile = PanelTile;
  static constexpr int chunks = warp_edge / 4;             // of a row
  static constexpr int rows_of_warp = 32 / chunks;         // that a warp brings at once
  static constexpr int pieces = warp_edge / rows_of_warp;  // of a lane, of its own square
  static constexpr int shares = pieces / Tile::warps;      // of a thread, of one of T
  static constexpr int triangles = Tile::steps * (Tile::steps + 1) / 2;  // squares of T

  unsigned first;  // shared address of the squares
  const Problem& problem;
  const TileProduct& t;
  int warp, row, chunk;  // the lane's first piece of its warp's square

  __device__ PanelRows(unsigned char* shared, const Problem& p, const TileProduct& tile, int thread)
      : first(async::shared_address(shared)),
        problem(p),
        t(tile),
        warp(thread / 32),
        row(thread % 32 / chunks),
        chunk(thread % chunks) {}

  /// move(shared address, source) for share `share` of the thread's pieces of square (step, i) of
  /// the triangle, which lies in the scratch blocks and is always complete.
  template <class Move>
  __device__ __forceinline__ void bring_triangle(int step, int i, int share, Move&& move) const {
    const PanelSquare from = Tile::triangle(t, step, i);
    const int line = (share * Tile::warps + warp) * rows_of_warp + row;
    const Grid<float> grid = grid_of(problem, from.source);
    move(address(first + Tile::place(step, i), line, from.permuted),
         &grid.at(from.row + line, from.column + 4 * chunk));
  }
  /// move(shared address, source) for piece `piece` of the lane's, of its warp's square of B. Rows
  /// and columns beyond the matrix repeat one inside; what they produce is never stored.
  template <class Move>
  __device__ __forceinline__ void bring_own(int step, int piece, Move&& move) const {
    const PanelSquare from = Tile::x(t, step, warp);
    const int line = piece * rows_of_warp + row;
    const int last_row = static_cast<int>(problem.matrix.rows) - 1;
    const int last_column = static_cast<int>(problem.matrix.pitch) - 4;
    const int i = from.row + line, j = from.column + 4 * chunk;
    move(address(first + Tile::place_of_x(step, warp), line, true),
         &problem.matrix.at(i < last_row ? i : last_row, j < last_column ? j : last_column));
  }
  __device__ void store(int step) const {
    const PanelSquare to = Tile::x(t, step, warp);
    const int column = to.column + 4 * chunk;
    if (column >= problem.matrix.pitch) return;
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) {
      const int line = piece * rows_of_warp + row;
      const float4 v =
          async::load_float4(address(first + Tile::place_of_x(step, warp), line, true));
      if (to.row + line < problem.matrix.rows) {
        *reinterpret_cast<float4*>(&problem.matrix.at(to.row + line, column)) = v;
      }
    }
  }
  __device__ void finish() const {}

 private:
  __device__ unsigned address(unsigned square, int line, bool permuted) const {
    return square + static_cast<unsigned>(line * Tile::k * 4 +
                                          16 * (permuted ? swizzled_chunk(line, chunk) : chunk));
  }
};

}  // namespace
}  // namespace amasia::lud
