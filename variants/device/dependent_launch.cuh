// Programmatic dependent launch: a kernel whose blocks may come to the device before the launch in
// front of it has ended, and wait there for its results. From sm_90; elsewhere the order of the
// stream is all there is.
#pragma once

#include "variants/device/launch.hpp"

namespace amasia {

/// Lets the next launch come as soon as all blocks of this one have said so, or are gone. Nothing
/// in a kernel that no dependent launch follows.
__device__ __forceinline__ void admit_successor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n" ::: "memory");
#endif
}

/// Waits until the launch before this one is done and its results are visible. Nothing in a kernel
/// that was launched as usual.
__device__ __forceinline__ void wait_for_predecessor() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;\n" ::: "memory");
#endif
}

/// For kernels that have nothing to do before.
__device__ __forceinline__ void follow_predecessor() {
  admit_successor();
  wait_for_predecessor();
}

/// The shape of a launch whose kernel waits for its predecessor itself.
struct FollowingShape : LaunchShape {
  bool early = false;  // comes before the launch in front of it has ended
};

/// As launch() of a LaunchShape. Throws CudaError.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const FollowingShape& shape, cudaStream_t stream,
            Arguments&&... arguments) {
  LaunchAttributes attributes = attributes_of(shape);
  if (shape.early) {
    cudaLaunchAttribute& serial = attributes.list[attributes.count++];
    serial.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    serial.val.programmaticStreamSerializationAllowed = 1;
  }
  launch_with(attributes, kernel, shape, stream, std::forward<Arguments>(arguments)...);
}

}  // namespace amasia
