// lud past 2^31 elements: every strategy in one config of the blocked schedules, which share their
// kernels, and in iso.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "harness/device.hpp"
#include "harness/registry.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::lud_large_test {
namespace {

/// The first config of each strategy that runs and whose schedule begins with `schedule`.
void expect_right(std::string_view schedule) {
  std::string reason;
  if (device_count(reason) == 0) GTEST_SKIP() << reason;
  const Device device = query_device(0);
  const App* app = find_app("lud");
  const Parameters parameters(app->parameters(), {{"n", "46349"}});
  if (app->device_bytes(parameters) > static_cast<std::int64_t>(device.free_bytes)) {
    GTEST_SKIP() << "the matrices do not fit in the device's memory";
  }
  const auto instance = (*find_instance_factory("lud"))(parameters, 7);
  int ran = 0;
  for (const Variant* variant : variants_of("lud")) {
    if (variant->comparator || device.compute_capability < variant->traits.runs_from) continue;
    for (const Config& config : variant->configs) {
      if (std::string_view(config.info.schedule).substr(0, schedule.size()) != schedule) continue;
      if (config.unsupported && config.unsupported(*instance, device)) continue;
      const Launch launch = config.prepare(*instance, device);
      instance->reset(nullptr);
      launch(nullptr);
      AMASIA_CUDA(cudaDeviceSynchronize());
      const Verdict v = instance->verify();
      EXPECT_TRUE(v.passed) << variant->name() << " " << config.info.name << ", " << v.norm << ": "
                            << (v.first_mismatches.empty() ? "" : v.first_mismatches.front());
      ++ran;
      break;
    }
  }
  EXPECT_GE(ran, 1);
}

TEST(LudLarge, BlockedSchedulesDecomposeMoreElementsThan31BitsCount) { expect_right("blocked"); }

TEST(LudLarge, IsoDecomposesMoreElementsThan31BitsCount) { expect_right("iso"); }

}  // namespace
}  // namespace amasia::lud_large_test
