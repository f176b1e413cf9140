// One sample: the time of one run between two events, launched from behind a spin kernel so that
// the host's launch jitter stays out, with the SM clock the run really had (MEASURING: "One
// sample").
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/app.hpp"
#include "harness/device.hpp"
#include "harness/gpu/cuda.hpp"
#include "harness/nvml.hpp"
#include "harness/variant.hpp"

namespace amasia {

enum class CacheMode { cold, hot };
enum class LaunchMode { stream, graph };

/// A prepared launch in one launch mode. In graph mode the work is captured once and replayed.
class PreparedRun {
 public:
  /// Captures `launch` to count its nodes, and in graph mode to instantiate it. Throws CudaError,
  /// and what the launch itself throws.
  PreparedRun(Launch launch, LaunchMode mode, cudaStream_t stream);
  ~PreparedRun();
  PreparedRun(const PreparedRun&) = delete;
  PreparedRun& operator=(const PreparedRun&) = delete;

  void enqueue(cudaStream_t stream) const;
  /// Kernels and memsets of one run.
  std::size_t nodes() const { return nodes_; }
  /// Whether the whole run fits in the launch queue behind the spin kernel.
  bool can_be_blocked() const;

 private:
  Launch launch_;
  LaunchMode mode_;
  std::size_t nodes_ = 0;
  cudaGraphExec_t executable_ = nullptr;
};

struct TimedRun {
  double time_ms = 0;
  std::optional<double> sm_clock_mhz{};
  bool throttled = false;
};

/// What one SM's clock and the global timer read at one moment.
struct ClockStamp {
  long long cycles = 0;
  unsigned long long nanoseconds = 0;
};

class Sampler {
 public:
  /// Allocates the flush buffer and the stamps. `nvml` may be unavailable; it outlives the sampler.
  Sampler(const Device& device, Nvml& nvml);

  /// Restores and poisons, brings the caches into the mode's state, runs once, timed.
  TimedRun time(const PreparedRun& run, Instance& instance, CacheMode cache);
  /// Restores and poisons, runs once, waits: for verification.
  void run_once(const PreparedRun& run, Instance& instance);
  /// Millijoules per run over a back-to-back batch of at least `seconds`; nothing without an energy
  /// counter or when the instance is not repeatable(). The instance is restored once, before the
  /// batch.
  std::optional<double> energy_mj(const PreparedRun& run, Instance& instance, double seconds);

  cudaStream_t stream() const { return stream_; }
  static std::string flush_method();

 private:
  std::optional<double> clock_from_stamps() const;

  Device device_;
  Nvml& nvml_;
  OwnedStream stream_;
  OwnedEvent start_, stop_;
  DeviceArray<int> flush_;
  DeviceArray<int> sink_;
  DeviceArray<ClockStamp> stamps_;      // 2 x SMs: before and after
  std::shared_ptr<volatile int> gate_;  // host memory the spin kernel polls: 0 wait, 1 go
};

}  // namespace amasia
