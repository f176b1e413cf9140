// One sample: the time of one run between two events, launched from behind a spin kernel so that
// the host's launch jitter stays out, with the SM clock the run really had
// (docs/methodology.md, "A sample").
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "harness/app.hpp"
#include "harness/device.hpp"
#include "harness/gpu/preparation.hpp"
#include "harness/gpu/timed_run.hpp"
#include "harness/nvml.hpp"
#include "harness/user_kernel/trial.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/prepared_run.hpp"

namespace amasia {

/// What one SM's clock and the global timer read at one moment.
struct ClockStamp {
  long long cycles = 0;
  unsigned long long nanoseconds = 0;
};

/// What one block of a probe notes.
struct ProbeStamp {
  unsigned long long began_ns = 0, computed_ns = 0, ended_ns = 0;
  unsigned long long cycles = 0;
};

/// What a sample is taken of.
struct Enqueued {
  /// Refers to `run`, which outlives it.
  Enqueued(const PreparedRun& run)
      : enqueue([&run](cudaStream_t stream) { run.enqueue(stream); }),
        can_be_blocked(run.can_be_blocked()) {}
  /// A launch that cannot be captured, see UserKernel::capturable.
  Enqueued(Launch launch, bool waits_in_the_queue)
      : enqueue(std::move(launch)), can_be_blocked(waits_in_the_queue) {}

  std::function<void(cudaStream_t)> enqueue;
  bool can_be_blocked;  // all of it fits in the launch queue, where it can wait
};

class Sampler {
 public:
  /// Allocates the flush buffer and the stamps. `nvml` may be unavailable; it outlives the sampler.
  Sampler(const Device& device, Nvml& nvml);
  /// From now on runs, flushes and events go to the caller's stream, which outlives the sampler.
  void use_stream(cudaStream_t stream) { stream_ = stream; }
  /// What runs have left set of persisting L2, which no other run is to meet; see PersistingL2.
  std::string put_back() { return persisting_.put_back(stream_); }

  /// Restores and poisons, brings the caches into the mode's state, runs once, timed; puts back
  /// what the run has left set.
  TimedRun time(const Enqueued& run, Instance& instance, CacheMode cache);
  /// The same, not timed but between the marks of a profiler, and not behind the spin kernel: a
  /// profiler may let no launch return before its kernel has ended.
  void count(const Enqueued& run, Instance& instance, CacheMode cache);
  /// Restores and poisons, runs once, waits: for verification.
  void run_once(const Enqueued& run, Instance& instance);
  /// Restores and poisons, and waits until that is done.
  void reset(Instance& instance);
  /// Restores and poisons, then runs once: how long until the stream and the whole device are done.
  DoneTimes until_done(const Enqueued& run, Instance& instance);
  /// Whether `launch` returns within a second while the spin kernel holds its stream.
  bool returns_while_held(const Launch& launch, Instance& instance);
  /// Millijoules per run over a back-to-back batch of at least `seconds`; nothing without an energy
  /// counter or when the instance is not repeatable().
  std::optional<double> energy_mj(const Enqueued& run, Instance& instance, double seconds);

  /// One probe (timed_run.hpp): runs it and waits.
  ProbeTimes probe();

  cudaStream_t stream() const { return stream_; }
  /// A kernel of the harness itself, to ask what code this program has for a GPU.
  static const void* kernel();

 private:
  /// Restores and poisons, and brings the caches into the mode's state.
  void make_ready(const Enqueued& run, Instance& instance, CacheMode cache);
  std::optional<double> clock_from_stamps() const;

  Device device_;
  Nvml& nvml_;
  OwnedStream own_stream_;
  cudaStream_t stream_;
  OwnedEvent start_, stop_;
  DeviceArray<int> flush_;  // at least four times the L2; no run uses it
  DeviceArray<int> sink_;
  DeviceArray<ClockStamp> stamps_;      // 2 x SMs: before and after
  std::shared_ptr<volatile int> gate_;  // host memory the spin kernel polls: 0 wait, 1 go
  int probe_blocks_;
  std::size_t probes_ = 0;                      // so far: each reads another part of flush_
  std::shared_ptr<ProbeStamp[]> probe_stamps_;  // host memory that the device writes
  PersistingL2 persisting_;
};

}  // namespace amasia
