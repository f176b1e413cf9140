// Updates that begin while the one before them ends. Their blocks fill the SMs that its last wave
// leaves idle, multiply panels that are finished, and wait for it before they take C
// (wait_for_predecessor(); CUDA Runtime API, "cudaLaunchAttributeProgrammaticEvent"). None begins
// before all blocks of the one before it have, so those never wait for an SM.
#pragma once

#include "apps/common/owned.hpp"
#include "variants/device/dependent_launch.cuh"

namespace amasia::lud {
namespace {

/// An event that a launch may announce: without a time.
using Announcement = Owned<cudaEvent_t, decltype(cudaEventDestroy)>;
inline Announcement announcement() {
  cudaEvent_t event = nullptr;
  AMASIA_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  return {event, cudaEventDestroy};
}

/// As launch(). A later launch on another stream that waits for `begun` may start when all blocks
/// of this one have called admit_successor(); without an event nobody does. Throws CudaError.
template <class... Parameters, class... Arguments>
void launch_announced(void (*kernel)(Parameters...), const LaunchShape& shape, cudaStream_t stream,
                      cudaEvent_t begun, Arguments&&... arguments) {
  LaunchAttributes attributes = attributes_of(shape);
  if (begun != nullptr) {
    cudaLaunchAttribute& announcement = attributes.list[attributes.count++];
    announcement.id = cudaLaunchAttributeProgrammaticEvent;
    announcement.val.programmaticEvent.event = begun;
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
