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

TEST(StoppingRule, NamesTheReasonOrGoesOn) {
  StoppingRule in_time = rule(), patient = rule(), for_fewer = rule();
  in_time.min_count_in_time = 3;
  patient.min_count = 6;
  patient.patience = 4;  // to 8 seconds
  for_fewer = patient;
  for_fewer.least_count = 4;
  const struct {
    const StoppingRule& rule;
    int count;
    double seconds;
    bool narrow;
    std::optional<StopReason> reason;
  } cases[] = {
      {rule(), 3, 1.9, false, std::nullopt},
      {rule(), 7, 1.9, false, std::nullopt},
      {rule(), 2, 0, true, std::nullopt},  // an early narrow interval is not believed
      {rule(), 3, 0, true, StopReason::narrow_enough},
      {rule(), 8, 0, false, StopReason::round_limit},
      {rule(), 4, 2.0, false, StopReason::time_limit},
      // What was reached counts more than what ran out.
      {rule(), 8, 9, true, StopReason::narrow_enough},
      {rule(), 8, 9, false, StopReason::round_limit},
      // Time ends it before the least count unless that is wanted.
      {rule(), 1, 2.5, false, StopReason::time_limit},
      {in_time, 2, 2.5, false, std::nullopt},
      {in_time, 3, 2.5, false, StopReason::time_limit},
      // The least count is waited for where it comes in reasonable time: six in 7.5, in 8.4.
      {patient, 2, 2.5, false, std::nullopt},
      {patient, 2, 2.8, false, StopReason::time_limit},
      {patient, 5, 6.5, false, std::nullopt},
      {patient, 6, 7.5, false, StopReason::time_limit},
      {patient, 6, 7.5, true, StopReason::narrow_enough},
      {patient, 5, 8.5, false, StopReason::time_limit},  // slower than it seemed
      // Fewer where it comes too late: four in 8, in 8.4.
      {for_fewer, 1, 2.0, false, std::nullopt},
      {for_fewer, 1, 2.1, false, StopReason::time_limit},
      {for_fewer, 4, 7.5, false, StopReason::time_limit},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.rule.reason(c.count, c.seconds, [&] { return c.narrow; }), c.reason) << &c - cases;
  }
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
