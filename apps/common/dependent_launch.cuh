// Programmatic dependent launch: a kernel whose blocks may come to the device before the launch in
// front of it has ended, and wait there for its results. From sm_90; elsewhere the order of the
// stream is all there is.
#pragma once

#include "variants/device/launch.hpp"

namespace amasia::matrix {

/// Waits until the launch before this one is done and its results are visible. Nothing in a kernel
/// that was launched as usual.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n" ::: "memory");
#endif
}

/// The next launch may begin as soon as all blocks of this one have said so, or are gone.
__device__ __forceinline__ void admit_successor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

/// launch(), for a kernel that waits for its predecessor itself. `early`: whether the device can
/// (compute capability 9.0). Throws CudaError.
template <class... Parameters, class... Arguments>
void launch_dependent(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                      bool early, Arguments&&... arguments) {
  LaunchAttributes attributes = attributes_of(shape);
  if (early) {
    cudaLaunchAttribute& serial = attributes.list[attributes.count++];
    serial.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serial.val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.dynamic_shared_bytes;
  config.stream = stream;
  config.attrs = attributes.list;
  config.numAttrs = attributes.count;
  AMASIA_CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

}  // namespace amasia::matrix
