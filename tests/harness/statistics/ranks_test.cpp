#include "harness/statistics/ranks.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace amasia
