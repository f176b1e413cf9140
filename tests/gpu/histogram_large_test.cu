// histogram past 2^31 and 2^32 keys: every strategy in one config of each schedule, on all inputs
// of the verification.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "harness/device.hpp"
#include "harness/registry.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::histogram_large_test {
namespace {

/// `left_out`: schedules that would take minutes, and run with other sizes.
void expect_all_right(const std::map<std::string, std::string>& size,
                      const std::set<std::string>& left_out) {
  std::string reason;
  if (device_count(reason) == 0) GTEST_SKIP() << reason;
  const Device device = query_device(0);
  const App* app = find_app("histogram");
  const Parameters parameters(app->parameters(), size);
  if (app->device_bytes(parameters) > static_cast<std::int64_t>(device.free_bytes)) {
    GTEST_SKIP() << "the keys do not fit in the device's memory";
  }
  const auto instance = (*find_instance_factory("histogram"))(parameters, 7);
  for (int input = 0; input <= instance->challenges(); ++input) {
    instance->pose(input);
    for (const Variant* variant : variants_of("histogram")) {
      if (variant->comparator || device.compute_capability < variant->traits.runs_from) continue;
      std::set<std::string> done = left_out;
      for (const Config& config : variant->configs) {
        if (done.count(config.info.schedule) > 0) continue;
        if (config.unsupported && config.unsupported(*instance, device)) continue;
        done.insert(config.info.schedule);
        const Launch launch = config.prepare(*instance, device);
        instance->reset(nullptr);
        launch(nullptr);
        AMASIA_CUDA(cudaDeviceSynchronize());
        const Verdict v = instance->verify();
        EXPECT_TRUE(v.passed) << variant->name() << " " << config.info.name << ", input " << input
                              << ": "
                              << (v.first_mismatches.empty() ? "" : v.first_mismatches.front());
      }
    }
  }
}

TEST(HistogramLarge, CountsMoreKeysThan32BitsDo) {
  // Additions to 256 words of global memory would take seconds.
  expect_all_right({{"keys", "4294979641"}, {"type", "uint8"}, {"bins", "256"}}, {"global"});
}

TEST(HistogramLarge, CountsMoreWordsThan31BitsDo) {
  expect_all_right({{"keys", "2147496011"}, {"type", "int32"}, {"bins", "65536"}}, {});
}

}  // namespace
}  // namespace amasia::histogram_large_test
