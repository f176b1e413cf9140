#include "variants/device/cuda.hpp"

#include <fmt/format.h>

namespace amasia {

CudaError::CudaError(cudaError_t code, const char* call, const char* file, int line)
    : std::runtime_error(fmt::format("{}:{}: {} ({}) from {}", file, line, cudaGetErrorName(code),
                                     cudaGetErrorString(code), call)),
      code_(code) {}

OutOfMemory::OutOfMemory(std::size_t needed, std::size_t available)
    : std::runtime_error(
          fmt::format("out of device memory: {} bytes needed, {} available; choose a smaller size",
                      needed, available)) {}

DeviceBytes::DeviceBytes(std::size_t bytes) : bytes_(bytes) {
  const cudaError_t code = cudaMalloc(&data_, bytes == 0 ? 1 : bytes);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // an allocation that failed is no sticky error: the next call starts clean
    std::size_t available = 0, total = 0;
    AMASIA_CUDA(cudaMemGetInfo(&available, &total));
    throw OutOfMemory(bytes, available);
  }
  check(code, "cudaMalloc", __FILE__, __LINE__);
}

DeviceBytes::~DeviceBytes() { cudaFree(data_); }

void DeviceBytes::poison(cudaStream_t stream) const {
  if (bytes_ > 0) AMASIA_CUDA(cudaMemsetAsync(data_, 0xFF, bytes_, stream));
}

OwnedStream::OwnedStream() {
  AMASIA_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
}
OwnedStream::~OwnedStream() { cudaStreamDestroy(stream_); }

OwnedEvent::OwnedEvent() { AMASIA_CUDA(cudaEventCreate(&event_)); }
OwnedEvent::~OwnedEvent() { cudaEventDestroy(event_); }

}  // namespace amasia
