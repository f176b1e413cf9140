#include "harness/statistics/schedule.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <utility>

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

}  // namespace
}  // namespace amasia
