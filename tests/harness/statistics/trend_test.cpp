#include "harness/statistics/trend.hpp"
#include "harness/statistics/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace amasia {
namespace {

TEST(Ranks, ArePlacesInAscendingOrder) {
  EXPECT_EQ(ranks_of({30, 10, 20}), (std::vector<double>{2, 0, 1}));
  EXPECT_TRUE(ranks_of({}).empty());
}

TEST(Ranks, OfEqualValuesAreTheMeanOfTheirPlaces) {
  EXPECT_EQ(ranks_of({5, 1, 5, 9}), (std::vector<double>{1.5, 0, 1.5, 3}));
  EXPECT_EQ(ranks_of({2, 2, 2}), (std::vector<double>{1, 1, 1}));
}

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(median_of({9}), 9);
  EXPECT_EQ(median_of({9, 1, 4}), 4);
  EXPECT_EQ(median_of({9, 1, 4, 6}), 5);
}

TEST(Trend, OfASeriesThatOnlyRisesIsOne) {
  const Trend up = trend_of({1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_DOUBLE_EQ(up.correlation, 1);
  EXPECT_DOUBLE_EQ(up.z, std::sqrt(8.0));
  EXPECT_DOUBLE_EQ(up.shift, 8.0 / 2 - 1);  // medians of the thirds
  const Trend down = trend_of({9, 8, 7, 6, 5, 4});
  EXPECT_DOUBLE_EQ(down.correlation, -1);
  EXPECT_DOUBLE_EQ(down.shift, 4.5 / 8.5 - 1);
}

TEST(Trend, EqualValuesShareTheirRank) {
  // Ranks 0.5, 0.5, 2.5, 2.5, 4.5, 4.5 against 0 to 5: computed by hand, 16 / sqrt(16 * 17.5).
  EXPECT_NEAR(trend_of({1, 1, 2, 2, 3, 3}).correlation, 16 / std::sqrt(16 * 17.5), 1e-12);
  EXPECT_EQ(trend_of({2, 2, 2, 2, 2, 2}).z, 0);
  EXPECT_EQ(trend_of({1, 2, 3, 4, 5}).shift, 0);  // too few
}

TEST(Trend, OfAShuffledSeriesIsStandardNormal) {
  std::mt19937 random(7);
  std::vector<double> series(40);
  for (std::size_t i = 0; i < series.size(); ++i) series[i] = 1 + static_cast<double>(i);
  int beyond = 0;
  double squares = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::shuffle(series.begin(), series.end(), random);
    const double z = trend_of(series).z;
    squares += z * z;
    beyond += std::abs(z) > 1.96;
  }
  EXPECT_NEAR(squares / 2000, 1, 0.1);
  EXPECT_NEAR(beyond, 100, 40);
}

TEST(BinomialUpperTail, IsTheSumOfItsTerms) {
  EXPECT_DOUBLE_EQ(binomial_upper_tail(10, 0, 0.5), 1);
  EXPECT_NEAR(binomial_upper_tail(10, 10, 0.5), std::pow(0.5, 10), 1e-15);
  EXPECT_NEAR(binomial_upper_tail(10, 1, 0.1), 1 - std::pow(0.9, 10), 1e-12);
  EXPECT_NEAR(binomial_upper_tail(3, 2, 0.2), 3 * 0.04 * 0.8 + 0.008, 1e-12);
  EXPECT_EQ(binomial_upper_tail(5, 6, 0.5), 0);
  EXPECT_NEAR(binomial_upper_tail(1000, 1, 1e-3), 1 - std::pow(0.999, 1000), 1e-9);
}

TEST(Quantile, IsAValueOfTheSample) {
  EXPECT_EQ(quantile_of({5, 1, 4, 2, 3}, 0), 1);
  EXPECT_EQ(quantile_of({5, 1, 4, 2, 3}, 0.1), 1);
  EXPECT_EQ(quantile_of({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(quantile_of({5, 1, 4, 2, 3}, 1), 5);
  EXPECT_THROW(quantile_of({}, 0.5), std::invalid_argument);
}

}  // namespace
}  // namespace amasia
