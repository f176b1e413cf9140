// What the mutants of all apps share: the faults, and a fixture that is parameterised by them. A
// test <app>_mutants_test.cu writes one plain kernel of its app that commits each fault on demand;
// the verification must catch all of them, and pass the same kernel without a fault.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "harness/device.hpp"
#include "harness/registry.hpp"
#include "variants/device/cuda.hpp"

namespace amasia {

/// nothing: no kernel runs. edge: off by one at an edge. skipped_tile: a tile nobody computed.
/// stale_halo: a neighbour's value from too early.
enum class Fault { none, nothing, edge, skipped_tile, stale_halo };

class Mutants : public testing::TestWithParam<Fault> {
 protected:
  void SetUp() override {
    std::string reason;
    if (device_count(reason) == 0) GTEST_SKIP() << reason;
  }

  static std::unique_ptr<Instance> instance(const char* app,
                                            const std::map<std::string, std::string>& size) {
    return (*find_instance_factory(app))(Parameters(find_app(app)->parameters(), size), 7);
  }

  /// Passed without a fault; with one, failed, and with a mismatch named.
  static void expect_verdict(Instance& i) {
    AMASIA_CUDA(cudaDeviceSynchronize());
    const Verdict v = i.verify();
    EXPECT_EQ(v.passed, GetParam() == Fault::none) << v.norm << " " << v.error;
    EXPECT_EQ(v.first_mismatches.empty(), v.passed);
  }
};

inline std::string fault_name(const testing::TestParamInfo<Fault>& info) {
  constexpr const char* names[] = {"None", "Nothing", "Edge", "SkippedTile", "StaleHalo"};
  return names[static_cast<int>(info.param)];
}

inline const auto every_fault = testing::Values(Fault::none, Fault::nothing, Fault::edge,
                                                Fault::skipped_tile, Fault::stale_halo);

}  // namespace amasia
