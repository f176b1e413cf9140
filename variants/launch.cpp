#include "variants/launch.hpp"

#include <cudaTypedefs.h>

#include <stdexcept>
#include <string>

namespace amasia {
namespace {

// The driver's function is looked up at run time so that nothing links against libcuda: the program
// must start, and say why it cannot measure, on machines without a driver.
PFN_cuTensorMapEncodeTiled_v12000 encode_tiled() {
  void* symbol = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  AMASIA_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &symbol, 12000,
                                               cudaEnableDefault, &found));
#else
  AMASIA_CUDA(
      cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &symbol, cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess) {
    throw std::runtime_error(
        "the driver has no cuTensorMapEncodeTiled: TMA needs driver 525 or newer");
  }
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(symbol);
}

CUtensorMap encode(void* data, CUtensorMapDataType type, std::size_t element_bytes,
                   std::int64_t rows, std::int64_t columns, std::int64_t pitch, int box_rows,
                   int box_columns) {
  const cuuint64_t extent[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t stride[1] = {static_cast<cuuint64_t>(pitch) * element_bytes};
  const cuuint32_t box[2] = {static_cast<cuuint32_t>(box_columns),
                             static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t step[2] = {1, 1};
  CUtensorMap map{};
  const CUresult result =
      encode_tiled()(&map, type, 2, data, extent, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                     CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                     CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw std::runtime_error("cuTensorMapEncodeTiled refused a grid of " + std::to_string(rows) +
                             " x " + std::to_string(columns) + ", pitch " + std::to_string(pitch) +
                             ", box " + std::to_string(box_rows) + " x " +
                             std::to_string(box_columns) + " (CUDA driver error " +
                             std::to_string(static_cast<int>(result)) + ")");
  }
  return map;
}

}  // namespace

void allow_launch(const void* kernel, const LaunchShape& shape) {
  AMASIA_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   static_cast<int>(shape.dynamic_shared_bytes)));
  if (shape.cluster_blocks > 8) {  // 8 is the portable maximum (Hopper Tuning Guide, 4.1.3)
    AMASIA_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
}

int resident_blocks(const void* kernel, const LaunchShape& shape, int sm_count) {
  if (shape.cluster_blocks > 1) {
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shape.cluster_blocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(shape.cluster_blocks);
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared_bytes;
    config.attrs = &cluster;
    config.numAttrs = 1;
    int clusters = 0;
    AMASIA_CUDA(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    return clusters * static_cast<int>(shape.cluster_blocks);
  }
  int per_sm = 0;
  AMASIA_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &per_sm, kernel, static_cast<int>(shape.block.x * shape.block.y * shape.block.z),
      shape.dynamic_shared_bytes));
  return per_sm * sm_count;
}

CUtensorMap make_tensor_map(const Grid<const int>& grid, int box_rows, int box_columns) {
  return encode(const_cast<int*>(grid.data), CU_TENSOR_MAP_DATA_TYPE_INT32, 4, grid.rows,
                grid.columns, grid.pitch, box_rows, box_columns);
}

CUtensorMap make_tensor_map(const Grid<const float>& grid, int box_rows, int box_columns) {
  return encode(const_cast<float*>(grid.data), CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, grid.rows,
                grid.columns, grid.pitch, box_rows, box_columns);
}

}  // namespace amasia
