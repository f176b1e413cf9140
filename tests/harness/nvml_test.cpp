#include "harness/nvml.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

// A library that answers as NVML does, for one device at PCI bus id 0000:1b:00.0. `missing` names
// functions it lacks, `failing` those that return an error.
struct FakeLibrary {
  std::map<std::string, bool> missing;
  std::map<std::string, bool> failing;
  unsigned long long reasons = 0;
  unsigned pids[2] = {};
  unsigned processes = 0;
  /// Who used the SMs: process id, share in percent and when, in microseconds.
  struct Use {
    unsigned pid, sm;
    unsigned long long time_us;
  };
  std::vector<Use> uses{};
  int initialised = 0;
  int shut_down = 0;
};
FakeLibrary fake;

constexpr int not_supported = 3, not_found = 6, insufficient_size = 7;
int device_object = 0;

int answer(const char* name) { return fake.failing[name] ? not_supported : 0; }

int find(const char* id, const char* known, void** device) {
  if (std::strcmp(id, known) != 0) return not_found;
  *device = &device_object;
  return 0;
}

int set(unsigned* number, unsigned value) {
  *number = value;
  return 0;
}

struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};
int running(void*, unsigned* count, Process* processes) {
  const bool fits = *count >= fake.processes;
  *count = fake.processes;
  if (!fits) return insufficient_size;
  // Past the two named ones: other people's.
  for (unsigned i = 0; i < fake.processes; ++i) processes[i] = {i < 2 ? fake.pids[i] : 1U, 0, 0, 0};
  return 0;
}

struct Utilization {
  unsigned pid;
  unsigned long long time_us;
  unsigned sm, memory, encoder, decoder;
};
int utilization(void*, Utilization* uses, unsigned* count, unsigned long long) {
  const bool fits = *count >= fake.uses.size();
  *count = static_cast<unsigned>(fake.uses.size());
  if (!fits) return insufficient_size;
  for (std::size_t i = 0; i < fake.uses.size(); ++i) {
    uses[i] = {fake.uses[i].pid, fake.uses[i].time_us, fake.uses[i].sm, 0, 0, 0};
  }
  return fake.uses.empty() ? not_found : answer("nvmlDeviceGetProcessUtilization");
}

template <class Function>
void* address(Function f) {
  return reinterpret_cast<void*>(+f);
}

void* resolve(const char* name) {
  static void* const clock = address([](void* device, unsigned type, unsigned* mhz) {
    return device == &device_object ? set(mhz, type == 1 ? 1980 : type == 2 ? 3201 : 0) : not_found;
  });
  static const std::map<std::string, void*> functions{
      {"nvmlInit_v2", address([] { return ++fake.initialised, answer("nvmlInit_v2"); })},
      {"nvmlShutdown", address([] { return ++fake.shut_down, 0; })},
      {"nvmlDeviceGetHandleByPciBusId_v2",
       address([](const char* id, void** device) { return find(id, "0000:1b:00.0", device); })},
      {"nvmlDeviceGetHandleByUUID",
       address([](const char* id, void** device) { return find(id, "GPU-5e2f", device); })},
      {"nvmlDeviceGetClockInfo", clock},
      {"nvmlDeviceGetMaxClockInfo", clock},
      {"nvmlDeviceGetTotalEnergyConsumption", address([](void*, unsigned long long* millijoules) {
         return *millijoules = 1ULL << 40, answer("nvmlDeviceGetTotalEnergyConsumption");
       })},
      {"nvmlDeviceGetTemperature", address([](void*, unsigned sensor, unsigned* celsius) {
         return sensor == 0 ? set(celsius, 41) : not_supported;
       })},
      {"nvmlDeviceGetPowerUsage", address([](void*, unsigned* mw) { return set(mw, 123449); })},
      {"nvmlDeviceGetEnforcedPowerLimit",
       address([](void*, unsigned* mw) { return set(mw, 700000); })},
      {"nvmlDeviceGetCurrentClocksEventReasons",
       address([](void*, unsigned long long* mask) { return *mask = fake.reasons, 0; })},
      {"nvmlSystemGetDriverVersion", address([](char* text, unsigned length) {
         return std::strncpy(text, "580.65.06", length), 0;
       })},
      {"nvmlDeviceGetEccMode", address([](void*, unsigned* current, unsigned* pending) {
         return set(current, 1) + set(pending, 1);
       })},
      {"nvmlDeviceGetMigMode", address([](void*, unsigned*, unsigned*) { return not_supported; })},
      {"nvmlDeviceGetComputeMode", address([](void*, unsigned* mode) { return set(mode, 3); })},
      {"nvmlDeviceGetComputeRunningProcesses_v3", address(running)},
      {"nvmlDeviceGetProcessUtilization", address(utilization)},
      {"nvmlDeviceGetTemperatureThreshold", address([](void*, unsigned which, unsigned* celsius) {
         return set(celsius, which == 1 ? 87 : 92);
       })},
  };
  const auto found = functions.find(name);
  return found == functions.end() || fake.missing[name] ? nullptr : found->second;
}

class NvmlOfFake : public testing::Test {
 protected:
  void SetUp() override { fake = FakeLibrary{}; }
};

constexpr const char* bus = "0000:1b:00.0";

TEST_F(NvmlOfFake, NothingIsKnownWithoutTheDeviceOrTheLibrary) {
  EXPECT_TRUE(Nvml("GPU-5e2f", resolve).available());
  EXPECT_FALSE(Nvml("GPU-0000", resolve).available());
  const Nvml absent("0000:ff:00.0", resolve),
      without(bus, [](const char*) -> void* { return nullptr; });
  EXPECT_NE(absent.reason().find("error 6"), std::string::npos) << absent.reason();
  EXPECT_NE(without.reason().find("libnvidia-ml.so.1"), std::string::npos) << without.reason();
  for (const Nvml* nvml : {&absent, &without}) {
    EXPECT_FALSE(nvml->available());
    EXPECT_FALSE(nvml->sm_clock_mhz());
    EXPECT_FALSE(nvml->total_energy_mj());
    EXPECT_FALSE(nvml->throttled());
    EXPECT_EQ(nvml->throttle_reasons(), "");
    EXPECT_TRUE(nvml->state().empty());
  }
}

TEST_F(NvmlOfFake, ALackingOrFailingFunctionLeavesOnlyItsAnswerOut) {
  fake.missing["nvmlDeviceGetPowerUsage"] = true;
  fake.failing["nvmlDeviceGetTotalEnergyConsumption"] = true;
  const Nvml nvml(bus, resolve);
  EXPECT_FALSE(nvml.power_mw());
  EXPECT_FALSE(nvml.total_energy_mj());
  EXPECT_EQ(nvml.temperature_c(), 41U);
  EXPECT_EQ(nvml.state().count("power_w"), 0U);
  EXPECT_EQ(Nvml(bus, resolve).sm_clock_mhz(), 1980U);
  fake.failing.clear();
  EXPECT_EQ(nvml.total_energy_mj(), std::uint64_t{1} << 40);  // more than 32 bits
}

TEST_F(NvmlOfFake, OnlyLimitsCountAsThrottling) {
  const Nvml nvml(bus, resolve);
  for (unsigned long long harmless : {0x0ULL, 0x1ULL, 0x2ULL, 0x100ULL}) {
    fake.reasons = harmless;
    EXPECT_EQ(nvml.throttled(), false) << harmless;
    EXPECT_EQ(nvml.throttle_reasons(), "");
  }
  fake.reasons = 0x4 | 0x40 | 0x1;
  EXPECT_EQ(nvml.throttled(), true);
  EXPECT_EQ(nvml.throttle_reasons(), "software power cap, hardware thermal slowdown");
  EXPECT_EQ(throttle_reason_names(~0ULL),
            "software power cap, hardware slowdown, sync boost, software thermal slowdown, "
            "hardware thermal slowdown, hardware power brake");
}

TEST_F(NvmlOfFake, StateHasWhatIsKnownAndNothingElse) {
  fake.pids[0] = static_cast<unsigned>(getpid());
  fake.processes = 1;
  const std::map<std::string, std::string> expected{{"driver_version", "580.65.06"},
                                                    {"power_limit_w", "700.0"},
                                                    {"power_w", "123.4"},
                                                    {"temperature_c", "41"},
                                                    {"slowdown_c", "87"},
                                                    {"sm_clock_mhz", "1980"},
                                                    {"sm_clock_max_mhz", "1980"},
                                                    {"memory_clock_mhz", "3201"},
                                                    {"memory_clock_max_mhz", "3201"},
                                                    {"ecc", "on"},
                                                    {"compute_mode", "exclusive process"},
                                                    {"throttle_reasons", ""},
                                                    {"compute_processes", "1"},
                                                    {"use", "exclusive"}};
  EXPECT_EQ(Nvml(bus, resolve).state(), expected);
}

TEST_F(NvmlOfFake, TellsSharedUseFromExclusive) {
  const Nvml nvml(bus, resolve);
  EXPECT_EQ(nvml.state().at("use"), "exclusive");  // nobody yet

  fake.pids[0] = static_cast<unsigned>(getpid());
  fake.pids[1] = static_cast<unsigned>(getppid());
  fake.processes = 2;  // this process and the one that started it
  EXPECT_EQ(nvml.state().at("use"), "exclusive");

  fake.processes = 3;
  EXPECT_EQ(nvml.state().at("use"), "shared with 1 other process");

  fake.processes = 100;  // more than the first request asks for
  EXPECT_EQ(nvml.state().at("use"), "shared with 98 other processes");
  EXPECT_EQ(nvml.state().at("compute_processes"), "100");

  fake.pids[0] = 1;
  fake.processes = 1;
  EXPECT_EQ(nvml.state().at("use").rfind("unknown: ", 0), 0U) << nvml.state().at("use");
}

TEST_F(NvmlOfFake, NamesWhoElseComputed) {
  const Nvml nvml(bus, resolve);
  const auto me = static_cast<unsigned>(getpid());
  EXPECT_EQ(nvml.other_processes(0), "");
  fake.uses = {{me, 90, 2000}};
  EXPECT_EQ(nvml.other_processes(1000), "");
  fake.uses = {{me, 90, 2000}, {7, 20, 2000}, {7, 5, 3000}, {8, 0, 2000}, {9, 40, 500}};
  // 8 did nothing, and 9 did it before.
  EXPECT_EQ(nvml.other_processes(1000), "1 other process, up to 20 % of the time");
  fake.uses.push_back({10, 30, 2500});
  EXPECT_EQ(nvml.other_processes(1000), "2 other processes, up to 30 % of the time");
  fake.uses.resize(1000, {7, 20, 2000});  // more than the first request asks for
  EXPECT_EQ(nvml.other_processes(1000), "2 other processes, up to 30 % of the time");
}

TEST_F(NvmlOfFake, SaysNothingOfProcessesItCannotTellFromThisOne) {
  const Nvml nvml(bus, resolve);
  fake.uses = {{7, 20, 2000}};  // this process may stand there by an id of the host
  EXPECT_EQ(nvml.other_processes(1000), "");
  fake.uses = {{static_cast<unsigned>(getpid()), 90, 2000}, {7, 20, 2000}};
  fake.failing["nvmlDeviceGetProcessUtilization"] = true;  // a MIG slice, or no right to ask
  EXPECT_EQ(nvml.other_processes(1000), "");
  fake.missing["nvmlDeviceGetProcessUtilization"] = true;
  EXPECT_EQ(nvml.other_processes(1000), "");
  EXPECT_EQ(Nvml("0000:ff:00.0", resolve).other_processes(0), "");
}

}  // namespace
}  // namespace amasia
