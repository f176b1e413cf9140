// A part of the L2 set aside for persisting accesses, and a window of addresses whose accesses
// persist (CUDA Programming Guide, "L2 Cache Control"; compute capability 8.0). Everything asked
// for is a hint that a driver may refuse or clamp: then there is nothing to measure, and the reason
// is an Unavailable.
#pragma once

#include <string>

#include "harness/microbenchmark.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::memory {

inline std::size_t asked(cudaDeviceAttr which, const Device& device) {
  int value = 0;
  AMASIA_CUDA(cudaDeviceGetAttribute(&value, which, device.index));
  return static_cast<std::size_t>(value);
}

/// The largest set-aside. Throws Unavailable where there is none.
inline std::size_t largest_set_aside(const Device& device) {
  if (asked(cudaDevAttrMaxAccessPolicyWindowSize, device) == 0) {
    throw Unavailable("the device has no access policy window (accessPolicyMaxWindowSize is 0)");
  }
  const std::size_t bytes = asked(cudaDevAttrMaxPersistingL2CacheSize, device);
  if (bytes == 0) {
    throw Unavailable(
        "nothing of the L2 can be set aside (persistingL2CacheMaxSize is 0): so it is in MIG mode "
        "and on some virtual GPUs");
  }
  return bytes;
}

/// Has a part of the L2 set aside while it lives; then puts the limit back and makes lines normal.
class SetAside {
 public:
  explicit SetAside(std::size_t bytes) {
    cudaError_t code = cudaDeviceGetLimit(&before_, cudaLimitPersistingL2CacheSize);
    if (code == cudaSuccess) code = cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes);
    if (code != cudaSuccess) {
      cudaGetLastError();  // a limit that is refused breaks nothing
      throw Unavailable(std::string("the driver refuses to set aside L2 (under MPS only its server "
                                    "can): ") +
                        cudaGetErrorString(code));
    }
    std::size_t granted = 0;
    if (cudaDeviceGetLimit(&granted, cudaLimitPersistingL2CacheSize) != cudaSuccess ||
        granted < bytes / 10 * 9) {
      release();
      throw Unavailable("of " + std::to_string(bytes) + " bytes of L2 the driver set aside " +
                        std::to_string(granted));
    }
  }
  ~SetAside() { release(); }
  SetAside(const SetAside&) = delete;
  SetAside& operator=(const SetAside&) = delete;

 private:
  void release() {
    cudaCtxResetPersistingL2Cache();
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, before_);
    cudaGetLastError();  // in a destructor: not for the next launch to report
  }
  std::size_t before_ = 0;
};

/// Accesses of this stream to the region persist, a share `ratio` of its lines; others stream.
inline void open_window(cudaStream_t stream, void* region, std::size_t bytes, float ratio,
                        const Device& device) {
  const std::size_t most = asked(cudaDevAttrMaxAccessPolicyWindowSize, device);
  if (bytes > most) {
    throw Unavailable("the region has " + std::to_string(bytes) + " bytes, a window at most " +
                      std::to_string(most));
  }
  cudaStreamAttrValue value{};
  value.accessPolicyWindow.base_ptr = region;
  value.accessPolicyWindow.num_bytes = bytes;
  value.accessPolicyWindow.hitRatio = ratio;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  const cudaError_t code =
      cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value);
  if (code != cudaSuccess) {
    cudaGetLastError();
    throw Unavailable(std::string("the driver refuses the access policy window: ") +
                      cudaGetErrorString(code));
  }
}

}  // namespace amasia::memory
