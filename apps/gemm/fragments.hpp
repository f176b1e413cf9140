// Which columns of C a thread has where wgmma computes a tile transposed (WgmmaTf32Tile), and where
// their elements of B lie in shared memory.
//
// wgmma leaves it open which column of C is which of its rows: a warp has 16 rows, a thread rows g
// and g + 8 of them (g = lane / 4) for k = t and t + 4 (t = lane % 4). The two rows are
// neighbouring columns here, so that one load of 8 bytes brings both, and one store takes both.
// Half a warp is served at one time: four rows of B by four pairs. In boxes of 128-byte rows, whose
// 16-byte chunks are permuted by c ^ (row % 8), the pairs lie in chunks x and x + 4. With any
// others, x and x + 1 say, row 0 has its x where row 1 has its x + 1, in the same banks.
#pragma once

#include "variants/host_device.hpp"

namespace amasia::gemm {

/// First column, of 128, of a thread's pair.
AMASIA_HD constexpr int pair_column(int thread) {
  const int warp = thread / 32, g = thread % 32 / 4;
  const int chunk = warp % 2 * 2 + g / 4 + g / 2 % 2 * 4;
  return warp / 2 * 32 + chunk * 4 + g % 2 * 2;
}

/// Where that pair of `row` of B lies in a slice of `rows` rows, in bytes. B comes as boxes of 32
/// columns side by side.
AMASIA_HD constexpr int pair_place(int thread, int row, int rows) {
  const int column = pair_column(thread);
  const int chunk = column % 32 / 4 ^ row % 8;
  return column / 32 * (rows * 128) + row * 128 + chunk * 16 + column % 4 * 4;
}

}  // namespace amasia::gemm
