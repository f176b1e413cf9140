// Tensor maps for 2-D boxes of any element type the apps use, with the hardware's swizzle.
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <array>
#include <string>

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

/// Boxes of a dense tensor of 1 to 5 dimensions, the innermost first.
struct BoxesOfTensor {
  CUtensorMapDataType type;
  void* data;
  unsigned rank;
  std::array<cuuint64_t, 5> extents{};
  std::array<cuuint64_t, 5> strides{};  // bytes; none for the innermost dimension
  std::array<cuuint32_t, 5> box{};
  CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
};
/// Its map, unchecked. Throws std::runtime_error, which names `what`, when the driver refuses.
CUtensorMap tensor_map(const BoxesOfTensor& boxes, const std::string& what);

}  // namespace amasia
