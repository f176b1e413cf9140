#include "harness/plan/selection.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/errors.hpp"
#include "tests/files.hpp"
#include "tests/harness/plan/planned_apps.hpp"

namespace amasia {
namespace {

/// A program with device code and one microbenchmark, as run.sh builds it with one folder.
const bool program_registered =
    register_variant(variant_to_plan("probe", "baseline")) &&
    register_microbenchmark(question_to_plan("ceilings/memory_bandwidth"));

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
