// Host side of a launch: the attributes a kernel needs (more than 48 KB of shared memory, clusters,
// co-residency), set in one place.
#pragma once

#include <cuda_runtime.h>

#include "variants/device/cuda.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  unsigned cluster_blocks = 1;  // along x
  bool cooperative = false;     // every block is resident at once, or the launch fails
};

/// Sets the kernel's attributes; call once in prepare(), never in the timed launch. What another
/// shape was allowed before stays allowed.
void allow_launch(const void* kernel, const LaunchShape& shape);

/// What a launch of this shape has to be told beyond grid and block.
struct LaunchAttributes {
  cudaLaunchAttribute list[2] = {};
  unsigned count = 0;
};
LaunchAttributes attributes_of(const LaunchShape& shape);

/// Launches kernel(arguments...) on the stream. Throws CudaError.
template <class... Parameters, class... Arguments>
void launch_with(LaunchAttributes attributes, void (*kernel)(Parameters...),
                 const LaunchShape& shape, cudaStream_t stream, Arguments&&... arguments) {
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.dynamic_shared_bytes;
  config.stream = stream;
  config.attrs = attributes.list;
  config.numAttrs = attributes.count;
  AMASIA_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
            Arguments&&... arguments) {
  launch_with(attributes_of(shape), kernel, shape, stream, std::forward<Arguments>(arguments)...);
}

/// Blocks of `kernel` that fit on the whole device at once (cluster-aware): the grid of a
/// persistent kernel. 0 when a single block or cluster does not fit. Call after allow_launch().
int resident_blocks(const void* kernel, const LaunchShape& shape, int sm_count);

}  // namespace amasia
