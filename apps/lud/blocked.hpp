// Index arithmetic of the blocked schedule: which 128 x 128 tiles a launch computes and from which
// panels. Plain arithmetic, the same on host and device; the CPU tests replay whole runs with it.
//
// Step k finishes the diagonal block (k, k), then the panels beside and below it, then subtracts
// their product from the trailing matrix. The trailing matrix is updated in two launches: its first
// row and column of tiles (`strip`), which is all that step k + 1 needs to begin, and the rest,
// which runs beside step k + 1's diagonal and panels (look-ahead).
#pragma once

#include <cstdint>

#include "apps/lud/lud.hpp"
#include "harness/host_device.hpp"
#include "variants/ring.hpp"

namespace amasia::lud {

enum class Region { panels, strip, rest };

/// Where an operand or result tile lies: in the matrix, or in one of the inverses of a diagonal
/// block.
enum class Source { matrix, lower_inverse, upper_inverse };

/// One tile's work: c = a b (panels) or c -= a b; a and b are panel_width deep. Rows and columns
/// are those of the top left elements. Blocks of a cluster that lie side by side share `a`, those
/// one below the other share `b`.
struct TileProduct {
  Source a_source, b_source;
  int a_row, a_column, b_row, b_column, c_row, c_column;
  bool subtract;
  bool shares_a;
  bool inside;  // false: the cluster reaches beyond the matrix here
};

AMASIA_HD constexpr int tiles_of(std::int64_t n) {
  return static_cast<int>((n + panel_width - 1) / panel_width);
}

AMASIA_HD constexpr int rounded_up(int count, int multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

/// Blocks of a launch, a multiple of `cluster`; `tiles` = tiles_of(n).
AMASIA_HD constexpr int blocks_of(Region region, int tiles, int step, int cluster) {
  const int side = tiles - 1 - step;  // of the trailing matrix
  if (side <= 0) return 0;
  switch (region) {
    case Region::panels:
      return 2 * rounded_up(side, cluster);
    case Region::strip:
      return rounded_up(side, cluster) + rounded_up(side - 1, cluster);
    default:
      return rounded_up(side - 1, cluster) * (side - 1);
  }
}

/// The work of block `block` of that launch. Neighbours in a cluster have consecutive numbers.
AMASIA_HD constexpr TileProduct tile_product(Region region, int tiles, int step, int cluster,
                                             int block) {
  const int first = (step + 1) * panel_width;  // of the trailing matrix
  const int panel = step * panel_width;
  const int side = tiles - 1 - step;
  TileProduct t{Source::matrix, Source::matrix, 0, 0, 0, 0, 0, 0, true, false, true};
  if (region == Region::panels) {
    const int below = rounded_up(side, cluster);
    t.subtract = false;
    t.shares_a = block >= below;
    const int i = t.shares_a ? block - below : block;
    t.inside = i < side;
    if (t.shares_a) {  // U = L^-1 A, a tile beside the diagonal
      t.a_source = Source::lower_inverse;
      t.b_row = t.c_row = panel;
      t.b_column = t.c_column = first + i * panel_width;
    } else {  // L = A U^-1, a tile below the diagonal
      t.b_source = Source::upper_inverse;
      t.a_row = t.c_row = first + i * panel_width;
      t.a_column = t.c_column = panel;
    }
    return t;
  }
  int row = 0, column = 0;
  if (region == Region::strip) {
    const int beside = rounded_up(side, cluster);
    t.shares_a = block < beside;
    column = t.shares_a ? block : 0;
    row = t.shares_a ? 0 : 1 + block - beside;
  } else {
    const int group = block / cluster;
    column = 1 + group % (side - 1);
    row = 1 + group / (side - 1) * cluster + block % cluster;
  }
  t.inside = row < side && column < side;
  t.a_row = t.c_row = first + row * panel_width;
  t.b_column = t.c_column = first + column * panel_width;
  t.a_column = t.b_row = panel;
  return t;
}

}  // namespace amasia::lud
