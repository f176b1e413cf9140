#include "microbench/curve.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace amasia {
namespace {

TEST(Slope, CancelsWhatIsPaidOnce) {
  std::vector<Abscissa> walks;
  for (const double links : {64, 128, 512, 4096}) walks.push_back({links, 310 + 32.5 * links});
  EXPECT_NEAR(slope_of(walks), 32.5, 1e-9);
  for (const double cost : differences_of(walks)) EXPECT_NEAR(cost, 32.5, 1e-9);
}

TEST(Slope, DifferencesShowAWalkThatChangesItsNature) {
  const auto costs = differences_of({{300, 9000}, {100, 1000}, {200, 2000}});
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_DOUBLE_EQ(costs[0], 10);
  EXPECT_DOUBLE_EQ(costs[1], 70);
}

TEST(Saturation, IsWhereLittlesLawEnds) {
  // Bandwidth min(x / 700, 10): saturates at 7000 bytes; 95 % of it at 6650.
  std::vector<Abscissa> curve;
  for (double x = 500; x < 1e5; x *= 1.1) curve.push_back({x, std::min(x / 700, 10.0)});
  EXPECT_NEAR(saturation_of(curve, 0.95), 6650, 350);
}

TEST(Saturation, IgnoresALuckyPointBeforeTheKneeAndSurvivesAFallAfterIt) {
  EXPECT_GT(saturation_of({{1, 10}, {2, 3}, {4, 6}, {8, 10}, {16, 10}}, 0.95), 4);
  EXPECT_LE(saturation_of({{1, 2}, {2, 10}, {4, 5}}, 0.95), 2);
  EXPECT_DOUBLE_EQ(saturation_of({{3, 5}}, 0.9), 3);
  EXPECT_THROW(saturation_of({}, 0.9), std::invalid_argument);
  EXPECT_THROW(saturation_of({{0, 5}}, 0.9), std::invalid_argument);
}

TEST(Steps, AreTheCapacitiesOfALadder) {
  const std::vector<Abscissa> ladder{{64, 33},   {128, 33.2}, {192, 33.1}, {256, 60},  {320, 180},
                                     {512, 230}, {1024, 231}, {2048, 233}, {4096, 640}};
  const auto steps = steps_of(ladder, 1.5);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_DOUBLE_EQ(steps[0].low, 192);
  EXPECT_DOUBLE_EQ(steps[0].high, 512);
  EXPECT_DOUBLE_EQ(steps[1].low, 2048);
  EXPECT_DOUBLE_EQ(steps[1].high, 4096);
  EXPECT_TRUE(steps_of({{1, 5}, {2, 5.1}, {4, 5.05}}, 1.5).empty());
}

TEST(Crossover, IsBracketed) {
  const Crossover found =
      bisect_crossover(1, 4096, 0.01, [](double x) { return x < 137 ? -1 : 1; });
  EXPECT_EQ(found.kind, Crossover::Kind::between);
  EXPECT_LE(found.at.low, 137);
  EXPECT_GE(found.at.high, 137);
  EXPECT_LE(found.at.high / found.at.low, 1.01);
  EXPECT_LT(found.evaluations, 20);
}

TEST(Crossover, WhatCannotBeResolvedIsTheInterval) {
  const Crossover found = bisect_crossover(1, 4096, 0.01, [](double x) {
    return x < 100 ? -1 : x > 200 ? 1 : 0;
  });
  EXPECT_EQ(found.kind, Crossover::Kind::between);
  EXPECT_LE(found.at.low, 100);
  EXPECT_GE(found.at.high, 200);
}

TEST(Crossover, MayNotBeThere) {
  EXPECT_EQ(bisect_crossover(1, 8, 0.1, [](double) { return -1; }).kind,
            Crossover::Kind::always_before);
  EXPECT_EQ(bisect_crossover(1, 8, 0.1, [](double) { return 1; }).kind,
            Crossover::Kind::always_after);
  EXPECT_EQ(bisect_crossover(1, 8, 0.1, [](double) { return 0; }).kind,
            Crossover::Kind::not_resolved);
  EXPECT_THROW(bisect_crossover(8, 1, 0.1, [](double) { return 0; }), std::invalid_argument);
}

}  // namespace
}  // namespace amasia
