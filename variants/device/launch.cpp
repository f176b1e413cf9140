#include "variants/device/launch.hpp"

namespace amasia {

LaunchAttributes attributes_of(const LaunchShape& shape) {
  LaunchAttributes attributes;
  if (shape.cluster_blocks > 1) {
    cudaLaunchAttribute& cluster = attributes.list[attributes.count++];
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = shape.cluster_blocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
  }
  if (shape.cooperative) {
    cudaLaunchAttribute& cooperative = attributes.list[attributes.count++];
    cooperative.id = cudaLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
  }
  return attributes;
}

void allow_launch(const void* kernel, const LaunchShape& shape) {
  // Only ever raised: another config may use the same kernel with fewer stages, and launches are
  // prepared before the first one runs.
  cudaFuncAttributes now{};
  AMASIA_CUDA(cudaFuncGetAttributes(&now, kernel));
  const int wanted = static_cast<int>(shape.dynamic_shared_bytes);
  if (wanted > now.maxDynamicSharedSizeBytes) {
    AMASIA_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, wanted));
  }
  if (shape.cluster_blocks > 8) {  // 8 is the portable maximum (Hopper Tuning Guide, 4.1.3)
    AMASIA_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  }
}

int resident_blocks(const void* kernel, const LaunchShape& shape, int sm_count) {
  if (shape.cluster_blocks > 1) {
    LaunchAttributes attributes = attributes_of({{}, {}, 0, shape.cluster_blocks});
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(shape.cluster_blocks);
    config.blockDim = shape.block;
    config.dynamicSmemBytes = shape.dynamic_shared_bytes;
    config.attrs = attributes.list;
    config.numAttrs = attributes.count;
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

}  // namespace amasia
