#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "harness/statistics/schedule.hpp"

namespace amasia {
namespace {

class Schedules : public testing::TestWithParam<int> {};

TEST_P(Schedules, EveryRoundHoldsEveryEntryOnce) {
  const int n = GetParam();
  for (int round = 0; round < 3 * rounds_per_cycle(n); ++round) {
    const std::vector<int> order = round_order(n, round);
    EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), static_cast<std::size_t>(n));
    EXPECT_EQ(order.size(), static_cast<std::size_t>(n));
    for (const int entry : order) EXPECT_TRUE(entry >= 0 && entry < n);
  }
}

TEST_P(Schedules, EveryEntryTakesEveryPositionEquallyOften) {
  const int n = GetParam(), rounds = rounds_per_cycle(n);
  std::map<std::pair<int, int>, int> times;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> order = round_order(n, round);
    for (int position = 0; position < n; ++position) ++times[{order[position], position}];
  }
  EXPECT_EQ(times.size(), static_cast<std::size_t>(n * n));
  for (const auto& [place, count] : times) EXPECT_EQ(count, rounds / n);
}

TEST_P(Schedules, EveryEntryFollowsEveryOtherEquallyOften) {
  const int n = GetParam(), rounds = rounds_per_cycle(n);
  std::map<std::pair<int, int>, int> times;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> order = round_order(n, round);
    for (int position = 1; position < n; ++position) {
      ++times[{order[position - 1], order[position]}];
    }
  }
  EXPECT_EQ(times.size(), static_cast<std::size_t>(n * (n - 1)));
  for (const auto& [pair, count] : times) EXPECT_EQ(count, rounds / n);
}

TEST_P(Schedules, RepeatsAfterACycleAndNotBefore) {
  const int n = GetParam(), rounds = rounds_per_cycle(n);
  EXPECT_EQ(rounds, n % 2 == 0 ? n : 2 * n);
  EXPECT_EQ(round_order(n, rounds + 1), round_order(n, 1));
  for (int round = 1; n > 2 && round < rounds; ++round) {
    EXPECT_NE(round_order(n, round), round_order(n, 0)) << round;
  }
}

INSTANTIATE_TEST_SUITE_P(Entries, Schedules, testing::Range(1, 17));

TEST(ScheduleEdges, NothingToRun) {
  EXPECT_TRUE(round_order(0, 5).empty());
  EXPECT_EQ(rounds_per_cycle(0), 0);
  EXPECT_THROW(round_order(-1, 0), std::invalid_argument);
  EXPECT_THROW(round_order(3, -1), std::invalid_argument);
}

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
