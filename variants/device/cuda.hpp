// Owners for CUDA resources, and the one way errors are reported. Only cuda.cpp calls cudaMalloc.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace amasia {

/// A failed CUDA call: what() has file, line, error name, its meaning and the text of the call.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const char* call, const char* file, int line);
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

/// The device has less free memory than an allocation asks for.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(std::size_t needed, std::size_t available);
};

inline void check(cudaError_t code, const char* call, const char* file, int line) {
  if (code != cudaSuccess) throw CudaError(code, call, file, line);
}
// A macro, because only a macro can quote the text of the call.
#define AMASIA_CUDA(call) ::amasia::check((call), #call, __FILE__, __LINE__)

/// The driver's function `name` as it is since CUDA `since` (12000: 12.0), or null where the driver
/// is older. Looked up at run time so that nothing links against libcuda: the program must start,
/// and say why it cannot measure, on machines without a driver.
template <class Function>
Function driver_function(const char* name, [[maybe_unused]] unsigned since) {
  void* symbol = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  AMASIA_CUDA(cudaGetDriverEntryPointByVersion(name, &symbol, since, cudaEnableDefault, &found));
#else
  AMASIA_CUDA(cudaGetDriverEntryPoint(name, &symbol, cudaEnableDefault, &found));
#endif
  return found == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(symbol) : nullptr;
}

/// Device memory that frees itself. Alignment: 256 B at least (cudaMalloc). Move-only.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  explicit DeviceBytes(std::size_t bytes);  // throws OutOfMemory
  ~DeviceBytes();
  DeviceBytes(DeviceBytes&& other) noexcept { swap(other); }
  DeviceBytes& operator=(DeviceBytes&& other) noexcept {
    swap(other);
    return *this;
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Every byte 0xFF: -1 as an integer, NaN as a float, so that a cell never written shows.
  void poison(cudaStream_t stream) const;

 private:
  void swap(DeviceBytes& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// `count` elements of T in device memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) : bytes_(count * sizeof(T)), count_(count) {}
  T* data() const { return static_cast<T*>(bytes_.data()); }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return bytes_.bytes(); }
  void poison(cudaStream_t stream) const { bytes_.poison(stream); }
  void download(T* host) const {
    AMASIA_CUDA(cudaMemcpy(host, data(), bytes(), cudaMemcpyDeviceToHost));
  }
  void upload(const T* host) const {
    AMASIA_CUDA(cudaMemcpy(data(), host, bytes(), cudaMemcpyHostToDevice));
  }

 private:
  DeviceBytes bytes_;
  std::size_t count_ = 0;
};

class OwnedStream {
 public:
  OwnedStream();
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class OwnedEvent {
 public:
  OwnedEvent();
  ~OwnedEvent();
  OwnedEvent(const OwnedEvent&) = delete;
  OwnedEvent& operator=(const OwnedEvent&) = delete;
  operator cudaEvent_t() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace amasia
