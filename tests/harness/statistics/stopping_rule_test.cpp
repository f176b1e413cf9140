#include "harness/statistics/stopping_rule.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

StoppingRule rule() {
  StoppingRule r;
  r.min_count = 3;
  r.max_count = 8;
  r.seconds = 2;
  return r;
}

bool yes() { return true; }
bool no() { return false; }

TEST(StoppingRule, GoesOnWhileNothingSpeaksAgainstIt) {
  EXPECT_EQ(rule().reason(3, 1.9, no), std::nullopt);
  EXPECT_EQ(rule().reason(7, 1.9, no), std::nullopt);
}

TEST(StoppingRule, NamesTheReason) {
  EXPECT_EQ(rule().reason(3, 0, yes), StopReason::narrow_enough);
  EXPECT_EQ(rule().reason(8, 0, no), StopReason::round_limit);
  EXPECT_EQ(rule().reason(4, 2.0, no), StopReason::time_limit);
  // What was reached counts more than what ran out.
  EXPECT_EQ(rule().reason(8, 9, yes), StopReason::narrow_enough);
  EXPECT_EQ(rule().reason(8, 9, no), StopReason::round_limit);
}

TEST(StoppingRule, DoesNotBelieveAnEarlyNarrowInterval) {
  bool asked = false;
  const auto reason = rule().reason(2, 0, [&] { return asked = true; });
  EXPECT_EQ(reason, std::nullopt);
  EXPECT_FALSE(asked);
}

TEST(StoppingRule, TimeEndsItBeforeTheLeastCountUnlessThatIsWanted) {
  StoppingRule r = rule();
  EXPECT_EQ(r.reason(1, 2.5, no), StopReason::time_limit);
  r.min_count_in_time = 3;
  EXPECT_EQ(r.reason(2, 2.5, no), std::nullopt);
  EXPECT_EQ(r.reason(3, 2.5, no), StopReason::time_limit);
}

TEST(StoppingRule, WaitsForTheLeastCountWhereItComesInReasonableTime) {
  StoppingRule r = rule();
  r.min_count = 6;
  r.patience = 4;                                               // to 8 seconds
  EXPECT_EQ(r.reason(2, 2.5, no), std::nullopt);                // six in 7.5
  EXPECT_EQ(r.reason(2, 2.8, no), StopReason::time_limit);      // in 8.4
  EXPECT_EQ(r.reason(5, 6.5, no), std::nullopt);                // in 7.8
  EXPECT_EQ(r.reason(6, 7.5, no), StopReason::time_limit);      // that was to be waited for
  EXPECT_EQ(r.reason(6, 7.5, yes), StopReason::narrow_enough);  // and may be enough
  EXPECT_EQ(r.reason(5, 8.5, no), StopReason::time_limit);      // slower than it seemed
}

TEST(StoppingRule, WaitsForFewerWhereTheLeastCountComesTooLate) {
  StoppingRule r = rule();
  r.min_count = 6;
  r.least_count = 4;
  r.patience = 4;                                           // to 8 seconds
  EXPECT_EQ(r.reason(1, 2.0, no), std::nullopt);            // six in 12, four in 8
  EXPECT_EQ(r.reason(1, 2.1, no), StopReason::time_limit);  // four in 8.4
  EXPECT_EQ(r.reason(4, 7.5, no), StopReason::time_limit);  // that was to be waited for
}

TEST(StoppingRule, ValuesArePreciseWhenTheirIntervalIsNarrowAndCovers) {
  StoppingRule r = rule();
  r.precision = 0.01;
  EXPECT_FALSE(r.precise(std::vector<double>{}));
  EXPECT_FALSE(r.precise(std::vector<double>(5, 1.0)));  // 5 cover 93.75 %
  EXPECT_TRUE(r.precise(std::vector<double>(6, 1.0)));
  EXPECT_TRUE(r.precise(std::vector<double>{0.991, 0.995, 1, 1, 1.005, 1.009}));
  EXPECT_FALSE(r.precise(std::vector<double>{0.985, 0.995, 1, 1, 1.005, 1.015}));
}

TEST(StoppingRule, RatiosArePreciseWhenAllAreAtTheirJointConfidence) {
  StoppingRule r = rule();
  r.precision = 0.01;
  const RatioInterval narrow{1, 0.995, 1.005, 0.97, 9, false};
  const RatioInterval wide{1, 0.98, 1.005, 0.97, 9, false};
  EXPECT_TRUE(r.precise(std::vector{narrow}));
  EXPECT_FALSE(r.precise(std::vector{wide}));
  EXPECT_FALSE(r.precise(std::vector{narrow, narrow}));  // two need 97.5 % each
  RatioInterval surer = narrow;
  surer.coverage = 0.98;
  EXPECT_TRUE(r.precise(std::vector{surer, surer}));
  RatioInterval surer_wide = wide;
  surer_wide.coverage = 0.98;
  EXPECT_FALSE(r.precise(std::vector{surer, surer_wide}));
}

}  // namespace
}  // namespace amasia
