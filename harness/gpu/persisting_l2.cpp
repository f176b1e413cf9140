#include "harness/gpu/persisting_l2.hpp"

#include <cuda_runtime.h>

#include <fmt/format.h>

#include "variants/device/cuda.hpp"

namespace amasia {

PersistingL2::PersistingL2(int device) {
  int most = 0;
  AMASIA_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device));
  exists_ = most > 0;
  if (exists_) first_limit_ = limit();
}

std::size_t PersistingL2::limit() {
  std::size_t bytes = 0;
  cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize);
  return bytes;
}

std::string PersistingL2::put_back(Stream stream) const {
  if (!exists_) return "";
  std::string left;
  if (const std::size_t now = limit(); now != first_limit_) {
    left = fmt::format("cudaLimitPersistingL2CacheSize at {} bytes", now);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, first_limit_);
  }
  cudaStreamAttrValue policy{};
  const auto attribute = cudaStreamAttributeAccessPolicyWindow;
  if (cudaStreamGetAttribute(stream, attribute, &policy) == cudaSuccess &&
      policy.accessPolicyWindow.num_bytes > 0) {
    left += fmt::format("{}an access policy of the stream for {} bytes",
                        left.empty() ? "" : " and ", policy.accessPolicyWindow.num_bytes);
    policy = {};
    cudaStreamSetAttribute(stream, attribute, &policy);
  }
  cudaCtxResetPersistingL2Cache();
  // Where a MIG instance or MPS lets nobody set any of it, nothing can be left.
  cudaGetLastError();
  return left;
}

}  // namespace amasia
