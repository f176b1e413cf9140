#include "harness/conclusions/claim.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sample_results.hpp"

namespace amasia {
namespace {

TEST(Claim, OfAnIntervalAcrossOneIsNone) {
  GroupResult group = sample_group(512);
  Comparison& tma = group.comparisons[1];
  ASSERT_EQ(tma.variant, "hotspot/tma");
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::faster);
  tma.speedup.resolved = false;
  tma.verdict = SpeedVerdict::not_resolved;
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::not_resolved);
}

TEST(Claim, IsNeverSmallerThanTheNoise) {
  const GroupResult group = sample_group(512);
  const auto bypass =
      std::find_if(group.comparisons.begin(), group.comparisons.end(),
                   [](const Comparison& c) { return c.variant == "hotspot/register_bypass"; });
  ASSERT_NE(bypass, group.comparisons.end());
  ASSERT_EQ(bypass->verdict, SpeedVerdict::slower);  // resolved by its own interval
  EXPECT_EQ(claim_of(group.comparisons, *bypass), SpeedClaim::within_noise);
  GroupResult quiet = group;
  for (Comparison& c : quiet.comparisons) {
    if (c.control) c.speedup = {1, 1, 1, 0.95, 9, false};
  }
  EXPECT_EQ(claim_of(quiet.comparisons, *bypass), SpeedClaim::slower);
  // The noise of another role says nothing about this one; a comparator has that of best.
  GroupResult other = group;
  std::erase_if(other.comparisons,
                [](const Comparison& c) { return c.control && c.role == Role::best; });
  EXPECT_EQ(claim_of(other.comparisons, *bypass), SpeedClaim::slower);
  Comparison library = *bypass;
  library.role = Role::comparator;
  EXPECT_EQ(claim_of(group.comparisons, library), SpeedClaim::within_noise);
}

TEST(Claim, IsNeverSmallerThanWhatTheBaselineDiffersFromItself) {
  GroupResult group = sample_group(512);
  Comparison& tma = group.comparisons[1];
  const auto with_control = [&](const RatioInterval& of_control, double ratio) {
    for (Comparison& c : group.comparisons) {
      if (c.control) c.speedup = of_control;
    }
    tma.speedup.ratio = ratio;
    return claim_of(group.comparisons, tma);
  };
  const RatioInterval told_apart{1.014, 1.01, 1.02, 0.99, 20, true};
  for (const double smaller : {1.005, 1.015, 0.99, 1.02, 1 / 1.02}) {
    EXPECT_EQ(with_control(told_apart, smaller), SpeedClaim::within_noise) << smaller;
  }
  EXPECT_EQ(with_control(told_apart, 1.021), SpeedClaim::faster);
  const RatioInterval in_reverse{1 / 1.014, 1 / 1.02, 1 / 1.01, 0.99, 20, true};
  EXPECT_EQ(with_control(in_reverse, 1.015), SpeedClaim::within_noise);
  EXPECT_EQ(with_control({1, 0.999, 1.02, 0.99, 20, false}, 0.99), SpeedClaim::faster);
}

TEST(Claim, IsNeverSmallerThanWhatTheRowDiffersFromItself) {
  GroupResult group = sample_group(512);
  Comparison& tma = group.comparisons[1];  // 1.249 times as fast
  tma.itself = {1.3, 1.28, 1.31, 0.99, 20, true};
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::within_noise);
  tma.itself = {1 / 1.3, 1 / 1.31, 1 / 1.28, 0.99, 20, true};  // in whichever order
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::within_noise);
  tma.itself = {1.1, 1.08, 1.12, 0.99, 20, true};
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::faster);
  // Not told from itself: wide for want of rounds, or because it scatters, which its own interval
  // has already.
  tma.itself = {1.02, 0.7, 1.5, 0.99, 20, false};
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::faster);
}

}  // namespace
}  // namespace amasia
