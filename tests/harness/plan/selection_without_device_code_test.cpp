// A program like that of the preset cpu: apps, no variant, no microbenchmark. The names are those
// of the source tree, so the apps are called like two of its.
#include "harness/errors.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/plan/selection.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

const bool registered = register_app(std::make_unique<AppToPlan>("hotspot")) &&
                        register_app(std::make_unique<AppToPlan>("gemm")) &&
                        register_app(std::make_unique<AppToPlan>("not-of-the-tree"));

std::vector<std::string> apps_of(const std::vector<std::string>& patterns) {
  std::vector<std::string> names;
  for (const SelectedApp& s : select_apps(patterns)) {
    EXPECT_TRUE(s.variants.empty());
    names.emplace_back(s.app->name());
  }
  return names;
}

TEST(SelectionWithoutDeviceCode, NoPatternIsEveryApp) {
  EXPECT_FALSE(has_device_code());
  EXPECT_EQ(apps_of({}), (std::vector<std::string>{"gemm", "hotspot", "not-of-the-tree"}));
}

TEST(SelectionWithoutDeviceCode, PatternsNameTheVariantsOfTheTree) {
  EXPECT_EQ(apps_of({"hotspot"}), std::vector<std::string>{"hotspot"});
  EXPECT_EQ(apps_of({"hotspot/tma"}), std::vector<std::string>{"hotspot"});
  EXPECT_EQ(apps_of({"*/dsm"}), (std::vector<std::string>{"gemm", "hotspot"}));
  EXPECT_EQ(apps_of({"gemm/cublas"}), std::vector<std::string>{"gemm"}) << "a comparator";
}

}  // namespace
}  // namespace amasia
