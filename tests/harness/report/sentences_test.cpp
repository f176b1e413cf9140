#include "harness/report/sentences.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
      "hotspot rows=512,cols=512,chip=scaled cold stream: tma ran 1.249x [1.249, 1.260] "));
  EXPECT_TRUE(contains(lines[0], "faster than baseline"));

  for (Comparison& c : group.comparisons) {
    if (c.variant != "hotspot/tma") continue;
    c.speedup = {0.8, 0.5, 0.9, 0.99, 9, true};
    c.claim = SpeedClaim::slower;
  }
  EXPECT_TRUE(
      contains(sentences(group).at(0), "tma ran 1.250x [1.111, 2.000] slower than baseline"));
}

TEST(Sentences, ATieIsSaidWhereEveryIntervalIsCloseTo1) {
  GroupResult group = sample_group(512);
  for (Comparison& c : group.comparisons) {
    if (c.control) continue;
    c.speedup = {1.001, 0.9969, 1.0081, 0.99, 15, false};
    c.claim = c.variant == "hotspot/tma" ? SpeedClaim::not_resolved : SpeedClaim::within_noise;
  }
  ASSERT_EQ(sentences(group).size(), 1u);
  EXPECT_TRUE(sentences(group)[0].ends_with(
      "cold stream: a tie: no strategy differs from baseline by more than 0.9 %"));
  Comparison& last = group.comparisons.back();
  EXPECT_EQ(sentence_of(last, "mine", "theirs"),
            "mine against theirs: no difference larger than 0.9 %, 1.001x [0.9969, 1.008]");
  // One that says little is no tie, and neither is one of few rounds.
  const auto says_a_tie = [&] {
    const std::vector<std::string> lines = sentences(group);
    return std::any_of(lines.begin(), lines.end(),
                       [](const std::string& line) { return contains(line, "a tie"); });
  };
  last.speedup.high = 1.03;
  EXPECT_FALSE(says_a_tie());
  EXPECT_EQ(sentence_of(last, "mine", "theirs"),
            "mine against theirs: within A/A noise, 1.001x [0.9969, 1.030]");
  last.speedup = {1.001, 1.0005, 1.002, 0.9, 5, false};
  EXPECT_FALSE(says_a_tie());
}

TEST(Sentences, AreNotSaidOfAnInvalidGroup) {
  GroupResult group = sample_group(512);
  ASSERT_FALSE(sentences(group).empty());
  group.invalid = {{InvalidKind::interference, "somebody", "ask"}};
  recompute(group, 0.95);
  EXPECT_TRUE(sentences(group).empty());
}

/// The best rows of a group with other schedules than the baseline's, and what matches them.
GroupResult divided_group() {
  GroupResult group = sample_group(512);
  const auto add = [&](const char* variant, Role role, const char* schedule,
                       const char* against_schedule, RatioInterval ratio, SpeedClaim claim) {
    Comparison c;
    c.variant = variant;
    c.role = role;
    c.schedule = schedule;
    c.against = "hotspot/baseline";
    c.against_schedule = against_schedule;
    c.speedup = ratio;
    c.claim = claim;
    group.comparisons.push_back(std::move(c));
  };
  group.comparisons.clear();
  add("hotspot/tma", Role::best, "8-warps", "4-warps", {2, 1.9, 2.1, 0.99, 15, true},
      SpeedClaim::faster);
  add("hotspot/baseline", Role::matched, "8-warps", "4-warps", {1.25, 1.2, 1.3, 0.99, 15, true},
      SpeedClaim::faster);
  add("hotspot/tma", Role::matched, "8-warps", "8-warps", {1.6, 1.5, 1.7, 0.99, 15, true},
      SpeedClaim::faster);
  return group;
}

TEST(Sentences, DivideASpeedupIntoScheduleAndMovement) {
  GroupResult group = divided_group();
  ASSERT_EQ(sentences(group).size(), 1u);
  EXPECT_TRUE(contains(sentences(group)[0],
                       "tma ran 2.000x [1.900, 2.100] faster than baseline, 1.250x [1.200, 1.300] "
                       "of it by schedule (8-warps for 4-warps) and 1.600x [1.500, 1.700] by "
                       "movement"));
  group.comparisons[2].claim = SpeedClaim::within_noise;
  EXPECT_TRUE(sentences(group)[0].ends_with("by movement, within A/A noise"));
  // With the same schedule all of it is movement, and nothing is to be divided.
  group.comparisons[0].schedule = "4-warps";
  EXPECT_TRUE(sentences(group)[0].ends_with("faster than baseline"));
}

TEST(Sentences, NameWhatRanFasterAndIsNotResolved) {
  GroupResult group = divided_group();
  Comparison other = group.comparisons[0];
  other.variant = "hotspot/dsm";
  other.speedup = {2.5, 0.9, 2.6, 0.9, 15, false};
  other.claim = SpeedClaim::not_resolved;
  group.comparisons.push_back(other);
  group.rounds = 20;
  std::vector<std::string> lines = sentences(group);
  ASSERT_EQ(lines.size(), 2u);  // the largest first
  EXPECT_TRUE(lines[0].ends_with(
      "dsm against baseline: not resolved, 2.500x [0.9000, 2.600]; more rounds (--rounds 41) may "
      "resolve it"));
  EXPECT_TRUE(contains(lines[1], "tma ran 2.000x"));
  // What is behind the fastest that was found is not asked for.
  group.comparisons.back().speedup.ratio = 1.5;
  EXPECT_EQ(sentences(group).size(), 1u);
  group.comparisons.back().speedup.ratio = 2.5;
  group.comparisons.back().claim = SpeedClaim::within_noise;
  EXPECT_TRUE(contains(sentences(group)[0], "baseline differs less from itself may resolve it"));
  // Alone it is named, too: then nothing is known to be faster.
  group.comparisons.erase(group.comparisons.begin(), group.comparisons.end() - 1);
  ASSERT_EQ(sentences(group).size(), 1u);
  group.comparisons[0].speedup.ratio = 0.99;
  EXPECT_TRUE(sentences(group).empty());
}

}  // namespace
}  // namespace amasia
