#include "variants/device/tensor_map.hpp"

#include <cudaTypedefs.h>
#include <fmt/format.h>

#include <stdexcept>

#include "variants/device/cuda.hpp"

namespace amasia {
namespace {

PFN_cuTensorMapEncodeTiled_v12000 encode_tiled() {
  const auto encode =
      driver_function<PFN_cuTensorMapEncodeTiled_v12000>("cuTensorMapEncodeTiled", 12000);
  if (encode != nullptr) return encode;
  throw std::runtime_error(
      "the driver has no cuTensorMapEncodeTiled: TMA needs driver 525 or newer");
}

constexpr CUtensorMapSwizzle driver_swizzles[] = {
    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B,
    CU_TENSOR_MAP_SWIZZLE_128B};

template <class T>
CUtensorMap encode(const Grid<const T>& grid, CUtensorMapDataType type, int box_rows,
                   int box_columns, Swizzle swizzle) {
  const auto objection =
      objection_to({reinterpret_cast<std::uintptr_t>(grid.data), grid.rows, grid.columns,
                    grid.pitch, static_cast<int>(sizeof(T)), box_rows, box_columns, swizzle});
  if (objection) throw std::runtime_error("no tensor map: " + *objection);
  return tensor_map({type,
                     const_cast<T*>(grid.data),
                     2,
                     {static_cast<cuuint64_t>(grid.columns), static_cast<cuuint64_t>(grid.rows)},
                     {static_cast<cuuint64_t>(grid.pitch) * sizeof(T)},
                     {static_cast<cuuint32_t>(box_columns), static_cast<cuuint32_t>(box_rows)},
                     driver_swizzles[static_cast<int>(swizzle)]},
                    fmt::format("a grid of {} x {}, pitch {}, box {} x {}", grid.rows, grid.columns,
                                grid.pitch, box_rows, box_columns));
}

}  // namespace

CUtensorMap tensor_map(const BoxesOfTensor& boxes, const std::string& what) {
  constexpr cuuint32_t steps[] = {1, 1, 1, 1, 1};
  CUtensorMap map{};
  const CUresult result = encode_tiled()(
      &map, boxes.type, boxes.rank, boxes.data, boxes.extents.data(), boxes.strides.data(),
      boxes.box.data(), steps, CU_TENSOR_MAP_INTERLEAVE_NONE, boxes.swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return map;
  throw std::runtime_error(fmt::format("cuTensorMapEncodeTiled refused {} (CUDA driver error {})",
                                       what, static_cast<int>(result)));
}

CUtensorMap tensor_map(const Grid<const float>& grid, int box_rows, int box_columns,
                       Swizzle swizzle) {
  return encode(grid, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, box_rows, box_columns, swizzle);
}

CUtensorMap tensor_map(const Grid<const int>& grid, int box_rows, int box_columns,
                       Swizzle swizzle) {
  return encode(grid, CU_TENSOR_MAP_DATA_TYPE_INT32, box_rows, box_columns, swizzle);
}

CUtensorMap tensor_map(const Grid<const __nv_bfloat16>& grid, int box_rows, int box_columns,
                       Swizzle swizzle) {
  return encode(grid, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, box_rows, box_columns, swizzle);
}

}  // namespace amasia
