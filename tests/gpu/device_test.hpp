// What tests on a device share: they are skipped where there is none, and run apps by name.
#pragma once

#include "harness/device.hpp"
#include "harness/registry.hpp"
#include "harness/variant.hpp"
#include "tests/test.hpp"
#include "variants/device/cuda.hpp"

namespace amasia {

/// Test: testing::Test, or testing::TestWithParam<...>.
template <class Test = testing::Test>
class OnDevice : public Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (device_count(reason) == 0) GTEST_SKIP() << reason;
    device = query_device(0);
  }
  Device device;
};

using Size = std::map<std::string, std::string>;

inline std::unique_ptr<Instance> instance(const char* app, const Size& size,
                                          std::uint64_t seed = 7) {
  return (*find_instance_factory(app))(Parameters(find_app(app)->parameters(), size), seed);
}

template <class Problem>
const Problem& problem_of(Instance& i) {
  return dynamic_cast<InstanceOf<Problem>&>(i).problem();
}

/// The verdict on one run of `config` over poisoned outputs.
inline Verdict verdict_of(const Config& config, Instance& i, const Device& device) {
  const Launch launch = config.prepare(i, device);
  i.reset(nullptr);
  launch(nullptr);
  AMASIA_CUDA(cudaDeviceSynchronize());
  return i.verify();
}

/// The variant's first config of a schedule; nullptr without one.
inline const Config* config_of(const Variant& variant, const std::string& schedule) {
  for (const Config& config : variant.configs) {
    if (config.info.schedule == schedule) return &config;
  }
  return nullptr;
}

}  // namespace amasia
