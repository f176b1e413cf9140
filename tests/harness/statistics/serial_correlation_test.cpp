#include "harness/statistics/serial_correlation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include "harness/statistics/statistics.hpp"

namespace amasia {
namespace {

TEST(SerialCorrelation, KnownSeries) {
  // Ranks 0, 1, 2, 3, 4 about 2: (2 + 0 + 0 + 2) / 10.
  EXPECT_DOUBLE_EQ(serial_correlation({1, 2, 30, 400, 5000}), 0.4);
  // Up and down: ranks 0, 3, 1, 4, 2: (-2 - 1 - 2 + 0) / 10.
  EXPECT_DOUBLE_EQ(serial_correlation({1, 8, 2, 9, 3}), -0.5);
  // Equal values share their rank: 0.5, 0.5, 2.5, 2.5 about 1.5: (1 - 1 + 1) / 4.
  EXPECT_DOUBLE_EQ(serial_correlation({1, 1, 2, 2}), 0.25);
  EXPECT_EQ(serial_correlation({1, 1, 1, 1}), 0);
  EXPECT_EQ(serial_correlation({1, 2}), 0);
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

/// Values of which each keeps a share of the last one's distance from 0.
std::vector<double> series(int n, double kept, std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::vector<double> values{normal(random)};
  while (static_cast<int>(values.size()) < n) {
    values.push_back(kept * values.back() + std::sqrt(1 - kept * kept) * normal(random));
  }
  return values;
}

TEST(VarianceInflation, KnownSeries) {
  EXPECT_EQ(variance_inflation({1, 2, 3, 4, 5, 6, 7}), 1);  // too few
  EXPECT_EQ(variance_inflation({1, 1, 1, 1, 1, 1, 1, 1, 1}), 1);
  EXPECT_EQ(variance_inflation({1, 9, 2, 8, 3, 7, 4, 6, 5}), 1);  // not more alike than by chance
  // 0, 1, ..., 7 about 3.5: 26.25 / 42 = 0.625, without its bias (8 * 0.625 + 1) / 4, which is
  // beyond the most.
  EXPECT_NEAR(variance_inflation({1, 2, 3, 4, 5, 6, 7, 8}), 99, 1e-9);
  // 133.25 of 340, and without its bias (16 r + 1) / 12; plots/statistics/intervals.py has it, too.
  const std::vector<double> pairs{5, 6, 1, 2, 13, 14, 15, 16, 3, 4, 11, 12, 7, 8, 9, 10};
  EXPECT_DOUBLE_EQ(serial_correlation(pairs), 133.25 / 340);
  EXPECT_DOUBLE_EQ(variance_inflation(pairs), 4.074626865671641);
}

TEST(VarianceInflation, KeepsTheCoverageOfAMedianWhereValuesDependOnEachOther) {
  std::mt19937_64 random(3);
  constexpr int all = 4000;
  struct Case {
    int n;
    double kept, least, most_without;  // of the coverage that is to be 95 %
  };
  // What chance hides stays: of 17 values one cannot tell that half is kept.
  for (const Case& c :
       {Case{51, 0, 0.93, 1}, Case{51, 0.5, 0.93, 0.84}, Case{51, 0.8, 0.93, 0.62},
        Case{200, 0.3, 0.93, 0.92}, Case{200, 0.8, 0.93, 0.62}, Case{17, 0.5, 0.86, 0.84}}) {
    int with = 0, without = 0;
    for (int i = 0; i < all; ++i) {
      const std::vector<double> values = series(c.n, c.kept, random);
      const auto holds = [](const MedianInterval& m) { return m.low <= 0 && 0 <= m.high; };
      const MedianInterval wide = median_interval(values, 0.95, variance_inflation(values));
      with += wide.coverage < 0.95 || holds(wide);  // one that covers too little says nothing
      without += holds(median_interval(values, 0.95));
    }
    EXPECT_GE(with, c.least * all) << c.n << " values, kept " << c.kept;
    EXPECT_LE(without, c.most_without * all) << c.n << " values, kept " << c.kept;
  }
}

TEST(VarianceInflation, LeavesIndependentValuesAlmostAsTheyAre) {
  std::mt19937_64 random(4);
  for (const int n : {15, 51, 300}) {
    double with = 0, without = 0;
    int widened = 0;
    for (int i = 0; i < 4000; ++i) {
      const std::vector<double> values = series(n, 0, random);
      const double inflation = variance_inflation(values);
      const MedianInterval exact = median_interval(values, 0.95),
                           wide = median_interval(values, 0.95, inflation);
      with += wide.high - wide.low;
      without += exact.high - exact.low;
      widened += inflation > 1;
    }
    EXPECT_LT(with, (n < 20 ? 1.07 : 1.03) * without) << n;
    EXPECT_LT(widened, 0.07 * 4000) << n;
  }
}

}  // namespace
}  // namespace amasia
