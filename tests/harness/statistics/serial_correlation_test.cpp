#include "harness/statistics/serial_correlation.hpp"

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>

namespace amasia {
namespace {

TEST(SerialCorrelation, KnownSeries) {
  // Ranks 0, 1, 2, 3, 4 about 2: (2 + 0 + 0 + 2) / 10.
  EXPECT_DOUBLE_EQ(serial_correlation({1, 2, 30, 400, 5000}), 0.4);
  // Up and down: ranks 0, 3, 1, 4, 2: (-2 - 1 - 2 + 0) / 10.
  EXPECT_DOUBLE_EQ(serial_correlation({1, 8, 2, 9, 3}), -0.5);
  EXPECT_EQ(serial_correlation({1, 1, 1, 1}), 0);
  EXPECT_EQ(serial_correlation({1, 2}), 0);
}

TEST(SerialCorrelation, EqualValuesShareTheirRank) {
  // Ranks 0.5, 0.5, 2.5, 2.5 about 1.5: (1 - 1 + 1) / 4.
  EXPECT_DOUBLE_EQ(serial_correlation({1, 1, 2, 2}), 0.25);
}

TEST(SerialCorrelation, ChanceExceedsTheLimitAsOftenAsSaid) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  constexpr int all = 20000;
  for (const int n : {15, 40, 100}) {
    int beyond = 0;
    for (int i = 0; i < all; ++i) {
      std::vector<double> values;
      for (int v = 0; v < n; ++v) values.push_back(normal(random));
      beyond += serial_correlation(values) > serial_correlation_by_chance(n, 0.01);
    }
    EXPECT_LT(beyond, 0.013 * all) << n;
    EXPECT_GT(beyond, 0.002 * all) << n;
  }
  EXPECT_THROW(serial_correlation_by_chance(10, 0), std::invalid_argument);
  EXPECT_THROW(serial_correlation_by_chance(0, 0.1), std::invalid_argument);
}

TEST(SerialCorrelation, ASlowStepIsSeen) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back((i < 20 ? 0 : 2) + normal(random));
  EXPECT_GT(serial_correlation(values), serial_correlation_by_chance(40, 0.001));
}

}  // namespace
}  // namespace amasia
