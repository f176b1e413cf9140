// What the mutants of all apps share: the faults, and a fixture that is parameterised by them. A
// test <app>_mutants_test.cu writes one plain kernel of its app that commits each fault on demand.
// The verification must catch all of them, and pass the same kernel without a fault.
#pragma once

#include "tests/gpu/device_test.hpp"

namespace amasia {

/// nothing: no kernel runs. edge: off by one at an edge. skipped_tile: a tile nobody computed.
/// stale_halo: a neighbour's value from too early.
enum class Fault { none, nothing, edge, skipped_tile, stale_halo };

class Mutants : public OnDevice<testing::TestWithParam<Fault>> {
 protected:
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
