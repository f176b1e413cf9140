#include "harness/statistics/false_discovery.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "harness/statistics/statistics.hpp"

namespace amasia {
namespace {

TEST(FalseDiscovery, TheExampleOfThePaper) {
  // Benjamini and Hochberg (1995), section 3.2: fifteen hypotheses, four refused at 0.05 where
  // Bonferroni refuses three.
  const std::vector<double> p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                              0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000};
  const Discoveries found = benjamini_hochberg(p, 0.05);
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_EQ(found.found[i], i < 4) << i;
  EXPECT_DOUBLE_EQ(found.level, 0.05 * 4 / 15);
}

TEST(FalseDiscovery, WithNoneTheLevelIsThatOfTheFirst) {
  const Discoveries none = benjamini_hochberg({0.5, 0.9, 0.2, 1}, 0.05);
  EXPECT_EQ(none.found, (std::vector<bool>{false, false, false, false}));
  EXPECT_DOUBLE_EQ(none.level, 0.0125);
  EXPECT_TRUE(benjamini_hochberg({}, 0.05).found.empty());
  EXPECT_THROW(benjamini_hochberg({0.5}, 1), std::invalid_argument);
}

TEST(FalseDiscovery, ALargerPMayCarryASmallerOne) {
  // 0.03 alone is more than a third of 0.05, but two of three are at most two thirds of it.
  EXPECT_EQ(benjamini_hochberg({0.03, 0.031, 0.9}, 0.05).found,
            (std::vector<bool>{true, true, false}));
}

TEST(FalseDiscovery, NoMoreThanTheRateIsFoundWhereNothingDiffers) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  int families = 0;
  constexpr int all = 4000;
  for (int family = 0; family < all; ++family) {
    std::vector<double> p(20);
    for (double& value : p) value = uniform(random);
    const Discoveries found = benjamini_hochberg(p, 0.05);
    families += std::count(found.found.begin(), found.found.end(), true) > 0;
  }
  EXPECT_LT(families, 0.06 * all);
  EXPECT_GT(families, 0.04 * all);
}

TEST(FalseDiscovery, ThePValueIsWhereTheIntervalBeginsToExclude) {
  const std::vector<double> a{1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9},
      b{1.45, 1.65, 1.75, 1.85, 1.95, 2.05, 2.15, 2.25, 2.35, 2.45};
  const double p = independent_p_value(a, b);
  EXPECT_GT(p, 0.001);
  EXPECT_LT(p, 0.5);
  EXPECT_TRUE(independent_ratio(a, b, 1 - p - 1e-9).resolved);
  EXPECT_FALSE(independent_ratio(a, b, 1 - p + 1e-9).resolved);
  EXPECT_EQ(independent_p_value(a, a), 1);
}

TEST(FalseDiscovery, NothingInCommonIsTheLeastThereIs) {
  const std::vector<double> low{1, 2, 3, 4, 5, 6, 7, 8, 9},
      high{11, 12, 13, 14, 15, 16, 17, 18, 19};
  EXPECT_NEAR(independent_p_value(low, high), least_p_value(9), 1e-12);
  EXPECT_EQ(least_p_value(9), 1.0 / 128);
  EXPECT_EQ(least_p_value(1), 1);
  // Beyond what a confidence can be told from 1.
  std::vector<double> many(200), more(200);
  for (int i = 0; i < 200; ++i) more[i] = 5 + (many[i] = 1 + i * 0.005);
  EXPECT_GE(independent_p_value(many, more), 0);
  EXPECT_LT(independent_p_value(many, more), 1e-15);
}

}  // namespace
}  // namespace amasia
