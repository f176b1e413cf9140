// Tensor maps for 2-D boxes of any element type the apps use, with the hardware's swizzle.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include "variants/geometry/tile.cuh"

namespace amasia {

/// How the copy engine permutes the 16-byte chunks of a box in shared memory: with bytes128, chunk c
/// of row r lies at chunk c ^ (r % 8), so that eight threads that read the same column of eight rows
/// touch all banks once. A row of the box then has exactly that many bytes (CUDA Driver API:
/// cuTensorMapEncodeTiled), and the box starts on a multiple of 8 rows of them (1024 B for bytes128).
enum class Swizzle { none, bytes32, bytes64, bytes128 };

/// The place of 16-byte chunk `chunk` of row `row` in a box whose rows are 128 bytes, under
/// Swizzle::bytes128.
AMASIA_HD constexpr int swizzled_chunk(int row, int chunk) { return chunk ^ (row & 7); }

/// A tensor map over `grid` whose box is box_rows x box_columns elements (each <= 256; a row of the
/// box a multiple of 16 bytes, at most the swizzle's width when there is one), zero fill outside.
/// Throws std::runtime_error with the limit that the shape breaks.
CUtensorMap tensor_map(const Grid<const float>& grid, int box_rows, int box_columns,
                       Swizzle swizzle = Swizzle::none);
CUtensorMap tensor_map(const Grid<const int>& grid, int box_rows, int box_columns,
                       Swizzle swizzle = Swizzle::none);
CUtensorMap tensor_map(const Grid<const __nv_bfloat16>& grid, int box_rows, int box_columns,
                       Swizzle swizzle = Swizzle::none);

}  // namespace amasia
