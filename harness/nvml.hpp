// The state of a GPU as NVML sees it. libnvidia-ml.so.1 is opened at run time: without it, or with
// one that lacks a function, the answer is "unknown" (nullopt), never an error. Nothing here
// changes a setting.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace amasia {

class Nvml {
 public:
  /// Address of an NVML function by name, nullptr when the library has none of that name.
  using Resolver = std::function<void*(const char* name)>;

  /// `device` is a PCI bus id ("0000:1b:00.0", as cudaDeviceGetPCIBusId prints it) or a UUID
  /// ("GPU-..." or "MIG-..."). Never throws; available() tells whether the device was found.
  explicit Nvml(const std::string& device);
  /// The same over functions from `resolve`, for tests.
  Nvml(const std::string& device, Resolver resolve);
  ~Nvml();
  Nvml(Nvml&&) noexcept;
  Nvml& operator=(Nvml&&) noexcept;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const;
  /// Why not available(), as a sentence; empty otherwise.
  const std::string& reason() const;

  // Each of these is one call of the library. They do not throw.
  std::optional<unsigned> sm_clock_mhz() const;
  /// Energy since the driver was loaded, in millijoules. The counter of an H200 advances in steps
  /// of tens of milliseconds: difference it over a long batch.
  std::optional<std::uint64_t> total_energy_mj() const;
  std::optional<unsigned> temperature_c() const;
  std::optional<unsigned> power_mw() const;
  /// True when the SM clock is held down by a limit (power, temperature, hardware slowdown, power
  /// brake, sync boost) rather than by idleness or by a clock that a user set.
  std::optional<bool> throttled() const;
  /// The active reasons by name, "software power cap, thermal slowdown"; empty when there is none
  /// or the state is unknown.
  std::string throttle_reasons() const;

  /// Which other processes computed on the device after `since_us` (now_us() of then): "2 other
  /// processes, up to 20 % of the time". Empty for none, and where it cannot be known: on a MIG
  /// slice, without the right to ask, in a container with process ids of its own.
  std::string other_processes(std::uint64_t since_us) const;
  /// Microseconds by the clock that NVML dates its samples by.
  static std::uint64_t now_us();
  /// The temperature from which the clock is held down, in degrees Celsius.
  std::optional<unsigned> slowdown_c() const;

  /// What a result file records of the device once per run; unknown members are absent. Keys:
  /// driver_version, power_limit_w, power_limit_default_w, power_w, temperature_c, slowdown_c,
  /// sm_clock_mhz, sm_clock_max_mhz, memory_clock_mhz, memory_clock_max_mhz, ecc, mig,
  /// compute_mode, persistence, throttle_reasons, compute_processes, use.
  std::map<std::string, std::string> state() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

/// Names of the throttling reasons set in NVML's clocks-event bit mask, by bit; only those that
/// throttled() counts.
std::string throttle_reason_names(std::uint64_t mask);

}  // namespace amasia
