// Geometry of the schedule 64x64: a block holds a square of 64 x 64 cells in registers, 4 x 4 per
// thread, and advances it by up to 20 steps in one launch. Neighbouring squares overlap by a halo
// of as many cells as there are steps, so a small grid, which a launch per two steps would spend
// its time on launching, is done in one. Covered by tests/apps/hotspot_test.cpp.
#pragma once

#include <cstdint>

#include "variants/geometry/ring.hpp"
#include "variants/host_device.hpp"

namespace amasia::hotspot {

inline constexpr int square = 64;
inline constexpr int patch = 4;                           // cells of a thread, per side
inline constexpr int patches = square / patch;            // per side
inline constexpr int square_threads = patches * patches;  // 256
inline constexpr int most_square_steps = 20;              // leaves 24 of 64 cells

/// Squares of an SM that passes are planned for, whichever strategy runs them: as many as fit with
/// the registers that the strategy with most of them needs.
inline constexpr int squares_per_sm = 3;
/// Squares of an SM that registers must allow where they can without a spill, which is everywhere
/// but in baseline: what it holds in registers, the others hold in shared memory.
inline constexpr int squares_bound = 4;

/// How squares cover one side of the grid. The first and the last lie flush with the edges, so that
/// only a grid that is smaller than a square, whose columns are no multiple of four or whose rows
/// are odd, leaves part of one outside.
struct SquareAxis {
  int extent, halo, stride, count;

  /// `halo` cells are lost at each side per pass.
  static AMASIA_HD constexpr SquareAxis of(std::int64_t extent, int halo) {
    const int n = static_cast<int>(extent);
    const int stride = square - 2 * halo;
    return {n, halo, stride, n <= square ? 1 : static_cast<int>(ceil_div(n - 2 * halo, stride))};
  }
  /// The first cell of square i; a multiple of `align` if the stride is.
  AMASIA_HD constexpr int first(int i, int align) const {
    const int last = extent > square ? static_cast<int>(round_up(extent - square, align)) : 0;
    return i * stride < last ? i * stride : last;
  }
  /// The cells that square i finishes: from begin() up to end().
  AMASIA_HD constexpr int begin(int i) const { return i == 0 ? 0 : i * stride + halo; }
  AMASIA_HD constexpr int end(int i) const {
    return i == count - 1 ? extent : (i + 1) * stride + halo;
  }
};

inline constexpr int column_halo(int steps) { return static_cast<int>(round_up(steps, patch)); }

/// Steps of a pass that make a run of `steps` shortest on a device that holds `resident` squares at
/// once. In units of one step of a square, about 0.2 us, a launch costs some ten and loading the
/// square some five.
inline int best_square_steps(std::int64_t rows, std::int64_t cols, int steps, int resident) {
  std::int64_t least = INT64_MAX;
  int best = 1;
  for (int pass = 1; pass <= most_square_steps && pass <= steps; ++pass) {
    const std::int64_t squares = std::int64_t{SquareAxis::of(rows, pass).count} *
                                 SquareAxis::of(cols, column_halo(pass)).count;
    const std::int64_t cost =
        ceil_div(steps, pass) * (10 + ceil_div(squares, resident) * (pass + 5));
    if (cost < least) {
      least = cost;
      best = pass;
    }
  }
  return best;
}

}  // namespace amasia::hotspot
