// gemm past 2^31 elements of C, and of A: every strategy in one config of each schedule.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "harness/device.hpp"
#include "harness/registry.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::gemm_large_test {
namespace {

void expect_all_right(const std::map<std::string, std::string>& size) {
  std::string reason;
  if (device_count(reason) == 0) GTEST_SKIP() << reason;
  const Device device = query_device(0);
  const App* app = find_app("gemm");
  const Parameters parameters(app->parameters(), size);
  if (app->device_bytes(parameters) > static_cast<std::int64_t>(device.free_bytes)) {
    GTEST_SKIP() << "the matrices do not fit in the device's memory";
  }
  const auto instance = (*find_instance_factory("gemm"))(parameters, 7);
  for (const Variant* variant : variants_of("gemm")) {
    if (variant->comparator || device.compute_capability < variant->traits.runs_from) continue;
    std::set<std::string> done;
    for (const Config& config : variant->configs) {
      if (done.count(config.info.schedule) > 0) continue;
      if (config.unsupported && config.unsupported(*instance, device)) continue;
      done.insert(config.info.schedule);
      const Launch launch = config.prepare(*instance, device);
      instance->reset(nullptr);
      launch(nullptr);
      AMASIA_CUDA(cudaDeviceSynchronize());
      const Verdict v = instance->verify();
      EXPECT_TRUE(v.passed) << variant->name() << " " << config.info.name << ": "
                            << (v.first_mismatches.empty() ? "" : v.first_mismatches.front());
    }
  }
}

const std::pair<const char*, const char*> modes[] = {
    {"fp32", "nn"}, {"tf32", "nn"}, {"bf16", "nn"}, {"tf32", "tn"}, {"bf16", "tn"}, {"e4m3", "tn"}};

TEST(GemmLarge, StoresMoreElementsThan31BitsCount) {
  for (const auto& [mode, layout] : modes) {
    expect_all_right(
        {{"m", "65601"}, {"n", "32799"}, {"k", "40"}, {"mode", mode}, {"layout", layout}});
  }
}

TEST(GemmLarge, ReadsMoreElementsThan31BitsCount) {
  for (const auto& [mode, layout] : modes) {
    expect_all_right(
        {{"m", "65601"}, {"n", "33"}, {"k", "32799"}, {"mode", mode}, {"layout", layout}});
  }
}

TEST(GemmLarge, ReadsMoreElementsOfATransposedBThan31BitsCount) {
  for (const char* mode : {"tf32", "bf16", "e4m3"}) {
    expect_all_right(
        {{"m", "33"}, {"n", "65601"}, {"k", "32799"}, {"mode", mode}, {"layout", "tn"}});
  }
}

}  // namespace
}  // namespace amasia::gemm_large_test
