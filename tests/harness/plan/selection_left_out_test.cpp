#include "harness/plan/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/errors.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

/// A program with device code and one microbenchmark, as run.sh builds it with one folder.
const bool program_registered = [] {
  Variant variant;
  variant.app = "probe";
  variant.strategy = "baseline";
  Config config;
  config.info.name = "iso";
  variant.configs.push_back(config);
  register_variant(variant);
  Microbenchmark built;
  built.name = "ceilings/memory_bandwidth";
  built.question = "Is it built?";
  built.method = "It is.";
  built.points = [](const Device&, Scope) { return std::vector<Point>{}; };
  register_microbenchmark(built);
  return true;
}();

std::string refusal(const std::string& pattern) {
  return message_of<UsageError>([&] { select({pattern}); });
}

TEST(LeftOut, IsWhatTheTreeHasAndTheProgramHasNot) {
  const std::vector<std::string> names = microbenchmarks_left_out();
  EXPECT_EQ(std::count(names.begin(), names.end(), "dsm/latency"), 1);
  EXPECT_EQ(std::count(names.begin(), names.end(), "ceilings/memory_bandwidth"), 0);
}

TEST(LeftOut, IsSaidTogetherWithHowToGetIt) {
  for (const char* pattern : {"dsm/latency", "dsm", "microbench/dsm/*", "dsm/*"}) {
    EXPECT_TRUE(contains(refusal(pattern), "this program was built without")) << pattern;
    EXPECT_TRUE(contains(refusal(pattern), "-DAMASIA_MICROBENCHMARKS=all")) << pattern;
  }
}

TEST(LeftOut, IsNoExcuseForWhatIsNowhere) {
  EXPECT_FALSE(contains(refusal("dsn/latency"), "built without"));
  EXPECT_TRUE(contains(refusal("dsn/latency"), "matches no variant and no microbenchmark"));
}

}  // namespace
}  // namespace amasia
