// The probe's kernel (harness/gpu/timed_run.hpp).
#pragma once

#include <cstddef>
#include <memory>

#include "harness/device.hpp"
#include "harness/gpu/timed_run.hpp"
#include "variants/device/cuda.hpp"

namespace amasia {

/// What one block of the probe notes.
struct ProbeStamp {
  unsigned long long began_ns = 0;
  unsigned long long computed_ns = 0;
  unsigned long long ended_ns = 0;
  unsigned long long cycles = 0;
};

class DeviceProbe {
 public:
  explicit DeviceProbe(const Device& device);

  /// Runs once and waits. Reads the next part of `memory`, whose content does not matter. Throws
  /// CudaError.
  ProbeTimes take(cudaStream_t stream, const DeviceArray<int>& memory);

 private:
  int blocks_;
  std::size_t part_ = 0;
  std::shared_ptr<ProbeStamp[]> stamps_;  // host memory that the device writes
  DeviceArray<int> sink_;
};

}  // namespace amasia
