// The points of every microbenchmark in the build, on GPUs that are not here: complete, the same
// when asked twice, and where the comparisons with published figures look for them.
#include <link.h>

#include <cstdio>

#include "harness/evidence/evidence.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/text/file.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

Device gpu(const char* name, int capability, int sms, std::size_t memory_gib, std::size_t l2_mib,
           std::size_t shared_kib) {
  Device d;
  d.name = name;
  d.compute_capability = capability;
  d.sm_count = sms;
  d.memory_bytes = memory_gib << 30;
  d.free_bytes = d.memory_bytes;
  d.l2_bytes = l2_mib << 20;
  d.shared_per_sm = shared_kib << 10;
  d.shared_per_block = (shared_kib - 1) << 10;
  d.registers_per_sm = 65536;
  d.max_threads_per_sm = capability == 75 ? 1024 : capability == 89 ? 1536 : 2048;
  d.max_clock_mhz = 1800;
  d.cooperative_launch = true;
  return d;
}

const std::vector<Device>& gpus() {
  static const std::vector<Device> all{gpu("H200", 90, 132, 140, 60, 228),
                                       gpu("A100", 80, 108, 40, 40, 164),
                                       gpu("V100", 70, 80, 16, 6, 96), gpu("T4", 75, 40, 16, 4, 64),
                                       gpu("RTX 4090", 89, 128, 24, 72, 100)};
  return all;
}

TEST(Points, AreCompleteOnEveryGpuAndTheSameWhenAskedTwice) {
  for (const Microbenchmark* m : microbenchmarks()) {
    for (const Device& d : gpus()) {
      for (const Scope scope : {Scope::quick, Scope::full}) {
        const auto points = m->points(d, scope);
        EXPECT_FALSE(points.empty()) << m->name << " on " << d.name;
        EXPECT_NO_THROW(check_points(*m, points)) << d.name;
        const auto again = m->points(d, scope);
        ASSERT_EQ(points.size(), again.size()) << m->name;
        for (std::size_t i = 0; i < points.size(); ++i) EXPECT_EQ(points[i].at, again[i].at);
      }
    }
  }
}

TEST(Points, AreWhereTheInventoryLooks) {
  for (const InventoryRow& row : inventory()) {
    for (const auto& [name, taken] : row.points) {
      const Microbenchmark* m = find_microbenchmark(name);
      if (m == nullptr) continue;  // not built yet, or not in this build
      const auto points = m->points(gpus()[0], Scope::full);
      // One row that says that this machine has no second GPU, or none.
      if (points.size() == 1 && !points[0].unsupported.empty()) continue;
      for (const Coordinates& at : taken) {
        EXPECT_TRUE(std::ranges::any_of(points,
                                        [&](const Point& p) {
                                          return std::ranges::all_of(at, [&](const auto& w) {
                                            return value_of(p.at, w.first) == w.second;
                                          });
                                        }))
            << row.id << ": " << name << " " << to_string(at);
      }
    }
  }
}

TEST(Points, WhatTheInventoryNamesAndTheTreeHasIsRegistered) {
  if (microbenchmarks().empty()) GTEST_SKIP() << "a build without CUDA";
  for (const InventoryRow& row : inventory()) {
    for (const std::string& by : row.by) {
      if (by == "ceilings" || by.starts_with("app ")) continue;
      // Left out of a build whose toolkit has no header of the library.
      if (by.starts_with("library/") && find_microbenchmark(by) == nullptr) continue;
      const bool in_tree = std::filesystem::exists(AMASIA_SOURCE_DIR "/microbench/" + by + ".cu");
      EXPECT_EQ(find_microbenchmark(by) != nullptr, in_tree) << row.id << ": " << by;
    }
  }
}

/// Mangled names by address: a kernel's host stub has the name of the kernel, and the runtime's own
/// cudaFuncGetName() wants a device.
std::map<std::uintptr_t, std::string> symbols() {
  std::uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        *static_cast<std::uintptr_t*>(out) = info->dlpi_addr;  // the first is the program
        return 1;
      },
      &base);
  std::map<std::uintptr_t, std::string> names;
  FILE* nm = popen(("nm --defined-only '" + executable_path() + "' 2>/dev/null").c_str(), "r");
  if (nm == nullptr) return names;
  char line[4096];
  while (std::fgets(line, sizeof line, nm) != nullptr) {
    std::istringstream words(line);
    std::uintptr_t address = 0;
    std::string kind, name;
    words >> std::hex >> address >> kind >> name;
    if (kind == "t" || kind == "T" || kind == "W" || kind == "w") names[base + address] = name;
  }
  pclose(nm);
  return names;
}

/// The kernel of a host stub. nvcc 13 makes the stubs of kernel templates local: "L5chase" in the
/// host's name is "5chase" in the kernel's.
CodeEvidence::Kernel kernel_of(const CodeEvidence& code, const std::string& stub) {
  if (code.kernels().count(stub) > 0) return code.of(stub);
  for (std::size_t i = 0; i + 1 < stub.size(); ++i) {
    if (stub[i] != 'L' || stub[i + 1] < '0' || stub[i + 1] > '9') continue;
    std::string name = stub;
    name.erase(i, 1);
    if (code.kernels().count(name) > 0) return code.of(name);
  }
  return code.of(stub);
}

std::vector<int> built_architectures() {
  std::vector<int> numbers;
  std::istringstream architectures(AMASIA_ARCHITECTURES);
  for (std::string a; architectures >> a;) numbers.push_back(std::stoi(a));
  return numbers;
}

/// A test for each architecture, because reading the code of one takes long: CTest runs the shards
/// of this program beside each other.
class PointsOf : public testing::TestWithParam<int> {};

TEST_P(PointsOf, ClaimWhatTheirCodeHolds) {
  if (microbenchmarks().empty()) GTEST_SKIP() << "a build without CUDA";
  const auto names = symbols();
  if (names.empty()) GTEST_SKIP() << "needs nm, of the binutils";
  const int number = GetParam();
  CodeEvidence evidence(executable_path(), number);
  evidence.read_all();
  Device d = gpus()[0];
  d.compute_capability = number;
  for (const Microbenchmark* m : microbenchmarks()) {
    for (const Point& p : m->points(d, Scope::full)) {
      if (!p.unsupported.empty() || number < p.runs_from) continue;
      for (const Claim& claim : p.claims) {
        const auto address = reinterpret_cast<std::uintptr_t>(p.kernels[claim.kernel].function);
        const auto name = names.find(address);
        ASSERT_NE(name, names.end()) << m->name;
        const CodeEvidence::Kernel kernel = kernel_of(evidence, name->second);
        if (kernel.source != "sass") continue;
        const auto& counts = claim.in_loop ? kernel.in_loops : kernel.instructions;
        const auto found = counts.find(claim.sass);
        const int claims = claim.count_in(kernel.source);
        const int held = found == counts.end() ? 0 : found->second;
        EXPECT_TRUE(claim.or_more ? held >= claims : held == claims)
            << held << " of " << claims << ", " << m->name << " [" << to_string(p.at) << "] sm_"
            << number << ", " << claim.sass;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, PointsOf, testing::ValuesIn(built_architectures()),
                         testing::PrintToStringParamName());
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PointsOf);  // a build without CUDA

}  // namespace
}  // namespace amasia
