#include "harness/cli/preview.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "harness/text/wrap.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

const bool registered =
    register_apps_to_plan() && register_microbenchmark(question_to_plan("memory/steps"));

Preview preview(const std::optional<Device>& device) {
  CampaignRequest request;
  request.patterns = {"alpha", "memory/steps"};
  request.sizes.preset = Preset::paper;  // 800 and 1600 bytes
  request.caches = {CacheMode::cold, CacheMode::hot};
  request.effort.energy = true;
  Preview p;
  p.title = "run";
  p.campaign = plan_campaign(request, cases_of(request), TuningTable{}, device ? "GPU A" : "");
  p.machine.device = device;
  if (!device) p.machine.obstacle = "no CUDA-capable device is detected";
  p.winners_known = device.has_value();
  return p;
}

Device gpu(std::size_t free_bytes) {
  Device d;
  d.name = "GPU A";
  d.free_bytes = free_bytes;
  return d;
}

TEST(Preview, ShowsGroupsRowsConfigsMemoryAndTime) {
  const std::string text = describe(preview(gpu(1200)));
  for (const char* part :
       {"run on GPU A (1.2 kB free): 4 groups, 1 microbenchmarks",
        "alpha n=100: 0.8 kB of device memory, fits",
        "alpha n=200: 1.6 kB of device memory, does NOT fit: will be skipped",
        "cold stream: 7 rows", "hot stream: 7 rows with energy", "iso again (A/A control)",
        "best (built-in default)", "memory/steps (full): 5 points, about", "expected: about"}) {
    EXPECT_TRUE(contains(text, part));
  }
}

TEST(Preview, SaysWhatIsUnknownWithoutADevice) {
  const std::string text = describe(preview(std::nullopt));
  for (const char* part :
       {"no usable GPU: no CUDA-capable device is detected", "unknown without a GPU",
        "alpha n=100: 0.8 kB of device memory\n", "best (config unknown without a device)",
        "memory/steps (full): points and time unknown", "whose time is unknown"}) {
    EXPECT_TRUE(contains(text, part));
  }
  EXPECT_EQ(text.find(", fits"), std::string::npos);
}

TEST(Preview, FitsThePage) {
  for (const auto& device : {std::optional<Device>(gpu(1200)), std::optional<Device>()}) {
    std::istringstream lines(describe(preview(device)));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(columns_of(line), page_columns) << line;
    }
  }
}

}  // namespace
}  // namespace amasia
