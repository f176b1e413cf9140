#include "harness/report/sentences.hpp"

#include <gtest/gtest.h>

#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

TEST(Sentences, AreSaidForResolvedBestComparisonsOnly) {
  GroupResult group = sample_group(512);
  const std::vector<std::string> lines = sentences(group);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(contains(
      lines[0],
      "hotspot rows=512,cols=512,chip=scaled cold stream: tma ran 1.249x [1.249, 1.249] "));
  EXPECT_TRUE(contains(lines[0], "faster than baseline"));

  for (Comparison& c : group.comparisons) {
    if (c.variant != "hotspot/tma") continue;
    c.speedup = {0.8, 0.5, 0.9, 0.99, 9, true};
    c.claim = SpeedClaim::slower;
  }
  EXPECT_TRUE(
      contains(sentences(group).at(0), "tma ran 1.250x [1.111, 2.000] slower than baseline"));
}

}  // namespace
}  // namespace amasia
