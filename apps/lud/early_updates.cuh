// Updates that begin while the one before them ends. Their blocks fill the SMs that its last wave
// leaves idle, multiply panels that are finished, and wait for it before they take C
// (wait_for_predecessor(); CUDA Runtime API, "cudaLaunchAttributeProgrammaticEvent").
#pragma once

#include "variants/device/dependent_launch.cuh"

namespace amasia::lud {
namespace {

/// As launch(). A later launch on another stream that waits for `begun` may start when all blocks
/// of this one have; without an event nobody does. Throws CudaError.
template <class... Parameters, class... Arguments>
void launch_announced(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                      cudaEvent_t begun, Arguments&&... arguments) {
  LaunchAttributes attributes = attributes_of(shape);
  if (begun != nullptr) {
    cudaLaunchAttribute& announcement = attributes.list[attributes.count++];
    announcement.id = cudaLaunchAttributeProgrammaticEvent;
    announcement.val.programmaticEvent.event = begun;
    announcement.val.programmaticEvent.flags = 0;
    announcement.val.programmaticEvent.triggerAtBlockStart = 1;
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

}  // namespace
}  // namespace amasia::lud
