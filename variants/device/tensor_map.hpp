// Tensor maps for 2-D boxes of any element type the apps use, with the hardware's swizzle.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include "variants/geometry/box.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia {

/// A tensor map over `grid` whose box is box_rows x box_columns elements (each <= 256; a row of the
/// box a multiple of 16 bytes, at most the swizzle's width when there is one), zero fill outside.
/// Throws std::runtime_error with the limit that the shape breaks (objection_to), and when the
/// driver refuses or is too old.
CUtensorMap tensor_map(const Grid<const float>& grid, int box_rows, int box_columns,
                       Swizzle swizzle = Swizzle::none);
CUtensorMap tensor_map(const Grid<const int>& grid, int box_rows, int box_columns,
                       Swizzle swizzle = Swizzle::none);
CUtensorMap tensor_map(const Grid<const __nv_bfloat16>& grid, int box_rows, int box_columns,
                       Swizzle swizzle = Swizzle::none);

}  // namespace amasia
