#include "harness/nvml.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace amasia {
namespace {

// The part of NVML's stable C interface that is used (NVML API Reference Guide). Declared here
// because the header comes with the CUDA toolkit, which host-only builds do not have.
using Return = int;  // nvmlReturn_t; 0 is success
constexpr Return insufficient_size = 7;
using Handle = void*;  // nvmlDevice_t
enum ClockType : unsigned { sm_clock = 1, memory_clock = 2 };
constexpr unsigned gpu_sensor = 0;  // NVML_TEMPERATURE_GPU

struct ProcessInfo {  // nvmlProcessInfo_v2_t, which ..._v3 of the query fills
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct ProcessUse {  // nvmlProcessUtilizationSample_t: shares in percent
  unsigned pid;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder;
};

/// What `query(count, into)` fills in; it says how many there are where those do not fit.
template <class Item, class Query>
std::optional<std::vector<Item>> list(std::size_t expected, const Query& query) {
  std::vector<Item> items(expected);
  auto count = static_cast<unsigned>(items.size());
  Return status = query(count, items.data());
  if (status == insufficient_size) {
    items.resize(count + 64);  // some may start meanwhile
    count = static_cast<unsigned>(items.size());
    status = query(count, items.data());
  }
  if (status != 0 || count > items.size()) return std::nullopt;
  items.resize(count);
  return items;
}

struct ThrottleReason {
  std::uint64_t bit;
  std::string_view name;
};
// Left out: idle (0x1), application or locked clocks (0x2, a setting, not a limit reached) and
// display clocks (0x100).
constexpr ThrottleReason throttle_reason_table[] = {
    {0x04, "software power cap"},
    {0x08, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "hardware power brake"},
};

std::uint64_t counted_reasons() {
  std::uint64_t mask = 0;
  for (const ThrottleReason& r : throttle_reason_table) mask |= r.bit;
  return mask;
}

// dlopen once per process; the handle is kept, because NVML may be asked until the very end.
void* resolve_in_library(const char* name) {
  static void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : dlsym(library, name);
}

std::string watts(unsigned milliwatts) {
  // One decimal: the resolution of the power limit.
  const unsigned tenths = (milliwatts + 50) / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

}  // namespace

std::string throttle_reason_names(std::uint64_t mask) {
  std::string names;
  for (const ThrottleReason& r : throttle_reason_table) {
    if ((mask & r.bit) == 0) continue;
    if (!names.empty()) names += ", ";
    names += r.name;
  }
  return names;
}

struct Nvml::Library {
  explicit Library(Resolver r) : resolve(std::move(r)) {}
  ~Library() {
    if (initialised) call("nvmlShutdown");
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Calls a function by name; -1 when the library has none of that name.
  template <class... Arguments>
  Return call(const char* name, Arguments... arguments) const {
    using Function = Return (*)(Arguments...);
    const auto function = reinterpret_cast<Function>(resolve(name));
    return function == nullptr ? -1 : function(arguments...);
  }

  /// One unsigned number of the device.
  std::optional<unsigned> number(const char* name) const {
    unsigned value = 0;
    if (device == nullptr || call(name, device, &value) != 0) return std::nullopt;
    return value;
  }
  std::optional<unsigned> number(const char* name, unsigned selector) const {
    unsigned value = 0;
    if (device == nullptr || call(name, device, selector, &value) != 0) return std::nullopt;
    return value;
  }
  std::optional<std::uint64_t> reasons() const {
    unsigned long long mask = 0;
    if (device == nullptr) return std::nullopt;
    if (call("nvmlDeviceGetCurrentClocksEventReasons", device, &mask) != 0) return std::nullopt;
    return mask;
  }
  std::optional<std::vector<unsigned>> compute_pids() const {
    const auto processes = list<ProcessInfo>(64, [&](unsigned& count, ProcessInfo* into) {
      return call("nvmlDeviceGetComputeRunningProcesses_v3", device, &count, into);
    });
    if (!processes) return std::nullopt;
    std::vector<unsigned> pids;
    for (const ProcessInfo& process : *processes) pids.push_back(process.pid);
    return pids;
  }
  std::vector<ProcessUse> uses(std::uint64_t since_us) const {
    const unsigned long long since = since_us;
    // Processes times samples.
    const auto found = list<ProcessUse>(256, [&](unsigned& count, ProcessUse* into) {
      return call("nvmlDeviceGetProcessUtilization", device, into, &count, since);
    });
    return found.value_or(std::vector<ProcessUse>{});
  }

  Resolver resolve;
  bool initialised = false;
  Handle device = nullptr;
  std::string reason;
};

Nvml::Nvml(const std::string& device) : Nvml(device, resolve_in_library) {}

Nvml::Nvml(const std::string& device, Resolver resolve)
    : library_(std::make_unique<Library>(std::move(resolve))) {
  Library& nvml = *library_;
  const Return started = nvml.call("nvmlInit_v2");
  if (started != 0) {
    nvml.reason = started < 0
                      ? "libnvidia-ml.so.1 was not found: clocks, energy and limits are unknown"
                      : "nvmlInit_v2 failed with NVML error " + std::to_string(started);
    return;
  }
  nvml.initialised = true;
  const bool uuid = device.rfind("GPU-", 0) == 0 || device.rfind("MIG-", 0) == 0;
  const char* find = uuid ? "nvmlDeviceGetHandleByUUID" : "nvmlDeviceGetHandleByPciBusId_v2";
  const Return found = nvml.call(find, device.c_str(), &nvml.device);
  if (found != 0) {
    nvml.device = nullptr;
    nvml.reason = std::string(find) + " failed with NVML error " + std::to_string(found);
  }
}

Nvml::~Nvml() = default;
Nvml::Nvml(Nvml&&) noexcept = default;
Nvml& Nvml::operator=(Nvml&&) noexcept = default;

bool Nvml::available() const { return library_->device != nullptr; }
const std::string& Nvml::reason() const { return library_->reason; }

std::optional<unsigned> Nvml::sm_clock_mhz() const {
  return library_->number("nvmlDeviceGetClockInfo", sm_clock);
}

std::optional<std::uint64_t> Nvml::total_energy_mj() const {
  unsigned long long energy = 0;
  if (!available() ||
      library_->call("nvmlDeviceGetTotalEnergyConsumption", library_->device, &energy) != 0) {
    return std::nullopt;
  }
  return energy;
}

std::optional<unsigned> Nvml::temperature_c() const {
  return library_->number("nvmlDeviceGetTemperature", gpu_sensor);
}

std::optional<unsigned> Nvml::power_mw() const {
  return library_->number("nvmlDeviceGetPowerUsage");
}

std::optional<bool> Nvml::throttled() const {
  const auto mask = library_->reasons();
  if (!mask) return std::nullopt;
  return (*mask & counted_reasons()) != 0;
}

std::string Nvml::throttle_reasons() const {
  return throttle_reason_names(library_->reasons().value_or(0));
}

std::uint64_t Nvml::now_us() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

std::optional<unsigned> Nvml::slowdown_c() const {
  constexpr unsigned slowdown = 1;  // NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
  return library_->number("nvmlDeviceGetTemperatureThreshold", slowdown);
}

std::string Nvml::other_processes(std::uint64_t since_us) const {
  if (!available()) return "";
  std::set<unsigned> others;
  unsigned most = 0;
  bool ours = false;
  for (const ProcessUse& use : library_->uses(since_us)) {
    const auto pid = static_cast<pid_t>(use.pid);
    // The parent has no work on the GPU, or it is the debugger's one process.
    ours = ours || pid == getpid() || pid == getppid();
    if (pid == getpid() || pid == getppid() || use.sm == 0 || use.time_us < since_us) continue;
    others.insert(use.pid);
    most = std::max(most, use.sm);
  }
  if (others.empty() || !ours) return "";
  return std::to_string(others.size()) +
         (others.size() == 1 ? " other process" : " other processes") + ", up to " +
         std::to_string(most) + " % of the time";
}

std::map<std::string, std::string> Nvml::state() const {
  std::map<std::string, std::string> state;
  if (!available()) return state;
  const Library& nvml = *library_;
  using Text = std::string (*)(unsigned);
  const auto record = [&state](const char* key, std::optional<unsigned> value, Text text_of) {
    if (value) state[key] = text_of(*value);
  };
  constexpr Text number = [](unsigned value) { return std::to_string(value); };
  constexpr Text on_off = [](unsigned value) { return std::string(value != 0 ? "on" : "off"); };

  std::array<char, 96> version{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80
  if (nvml.call("nvmlSystemGetDriverVersion", version.data(), 80U) == 0) {
    state["driver_version"] = version.data();
  }
  record("power_limit_w", nvml.number("nvmlDeviceGetEnforcedPowerLimit"), watts);
  record("power_limit_default_w", nvml.number("nvmlDeviceGetPowerManagementDefaultLimit"), watts);
  record("power_w", power_mw(), watts);
  record("temperature_c", temperature_c(), number);
  record("slowdown_c", slowdown_c(), number);
  record("sm_clock_mhz", sm_clock_mhz(), number);
  record("sm_clock_max_mhz", nvml.number("nvmlDeviceGetMaxClockInfo", sm_clock), number);
  record("memory_clock_mhz", nvml.number("nvmlDeviceGetClockInfo", memory_clock), number);
  record("memory_clock_max_mhz", nvml.number("nvmlDeviceGetMaxClockInfo", memory_clock), number);
  record("persistence", nvml.number("nvmlDeviceGetPersistenceMode"), on_off);

  unsigned current = 0;
  unsigned pending = 0;
  if (nvml.call("nvmlDeviceGetEccMode", nvml.device, &current, &pending) == 0) {
    record("ecc", current, on_off);
  }
  if (nvml.call("nvmlDeviceGetMigMode", nvml.device, &current, &pending) == 0) {
    record("mig", current, on_off);
  }
  const auto mode = nvml.number("nvmlDeviceGetComputeMode");
  if (mode) {
    constexpr std::string_view names[] = {"default", "exclusive thread", "prohibited",
                                          "exclusive process"};
    state["compute_mode"] =
        *mode < std::size(names) ? std::string(names[*mode]) : std::to_string(*mode);
  }
  const auto reasons = nvml.reasons();
  if (reasons) state["throttle_reasons"] = throttle_reason_names(*reasons);

  if (const auto pids = nvml.compute_pids()) {
    state["compute_processes"] = std::to_string(pids->size());
    std::size_t ours = 0;  // this process, and the one that started it to isolate it
    for (unsigned pid : *pids) {
      ours += static_cast<pid_t>(pid) == getpid() || static_cast<pid_t>(pid) == getppid();
    }
    const std::size_t others = pids->size() - ours;
    if (others == 0) {
      state["use"] = "exclusive";
    } else if (ours > 0) {
      state["use"] = "shared with " + std::to_string(others) +
                     (others == 1 ? " other process" : " other processes");
    } else {
      // In a container NVML may list ids of the host, where this process has another one.
      state["use"] = "unknown: none of the processes listed is this one (" +
                     std::to_string(pids->size()) + ")";
    }
  }
  return state;
}

}  // namespace amasia
