#include "harness/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

namespace amasia {
namespace {

/// P(Binomial(n, 1/2) < k) by counting all 2^n outcomes of n coins.
double tail_by_counting(int n, int k) {
  long below = 0;
  for (long outcome = 0; outcome < (1L << n); ++outcome) {
    if (__builtin_popcountl(static_cast<unsigned long>(outcome)) < k) ++below;
  }
  return std::ldexp(static_cast<double>(below), -n);
}

std::vector<double> one_to(int n) {
  std::vector<double> values;
  for (int i = 1; i <= n; ++i) values.push_back(i);
  return values;
}

TEST(MedianInterval, RankIsTheLargestThatCoversForEveryN) {
  for (int n = 1; n <= 16; ++n) {
    for (const double confidence : {0.3, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999}) {
      int expected = 1;
      for (int k = 1; 2 * k <= n + 1; ++k) {
        if (1 - 2 * tail_by_counting(n, k) >= confidence) expected = k;
      }
      const MedianInterval m = median_interval(one_to(n), confidence);
      EXPECT_EQ(m.low, expected) << "n " << n << " confidence " << confidence;
      EXPECT_EQ(m.high, n + 1 - expected) << "n " << n << " confidence " << confidence;
      EXPECT_DOUBLE_EQ(m.coverage, 1 - 2 * tail_by_counting(n, expected)) << "n " << n;
    }
  }
}

TEST(MedianInterval, RefusesNonsense) {
  EXPECT_THROW(median_interval({}, 0.95), std::invalid_argument);
  EXPECT_THROW(median_interval({1}, 0), std::invalid_argument);
  EXPECT_THROW(median_interval({1}, 1), std::invalid_argument);
  EXPECT_THROW(median_interval({1}, std::nan("")), std::invalid_argument);
  EXPECT_THROW(median_interval({1, std::nan("")}, 0.9), std::invalid_argument);
  EXPECT_THROW(median_interval({1, std::numeric_limits<double>::infinity()}, 0.9),
               std::invalid_argument);
}

TEST(PairedRatio, IsReferenceOverCandidateByPairs) {
  // Pair by pair always 2x, although the two samples overlap completely.
  const std::vector<double> reference{2, 4, 8, 16, 32, 64, 128};
  const std::vector<double> candidate{1, 2, 4, 8, 16, 32, 64};
  const RatioInterval r = paired_ratio(reference, candidate, 0.95);
  EXPECT_DOUBLE_EQ(r.ratio, 2);
  EXPECT_DOUBLE_EQ(r.low, 2);
  EXPECT_DOUBLE_EQ(r.high, 2);
  EXPECT_EQ(r.n, 7);
  EXPECT_TRUE(r.resolved);
}

TEST(PairedRatio, AnIntervalThatTouchesOneIsNotResolved) {
  const std::vector<double> ones(8, 1.0);
  EXPECT_FALSE(paired_ratio(ones, ones, 0.95).resolved);
  EXPECT_FALSE(paired_ratio({1, 2, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1}, 0.95).resolved);
  EXPECT_TRUE(paired_ratio({1.01, 2, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1}, 0.95).resolved);
  EXPECT_TRUE(paired_ratio({0.99, 0.5, 0.5, 0.5, 0.5, 0.5}, {1, 1, 1, 1, 1, 1}, 0.95).resolved);
}

TEST(PairedRatio, TooFewPairsResolveNothing) {
  // Far from 1, but five pairs cover 0.9375 < 0.95 at most.
  const RatioInterval r = paired_ratio({9, 9, 9, 9, 9}, {1, 1, 1, 1, 1}, 0.95);
  EXPECT_EQ(r.coverage, 0.9375);
  EXPECT_FALSE(r.resolved);
}

TEST(PairedRatio, RefusesNonsense) {
  EXPECT_THROW(paired_ratio({1, 2}, {1}, 0.95), std::invalid_argument);
  EXPECT_THROW(paired_ratio({}, {}, 0.95), std::invalid_argument);
  EXPECT_THROW(paired_ratio({0}, {1}, 0.95), std::invalid_argument);
  EXPECT_THROW(paired_ratio({1}, {-1}, 0.95), std::invalid_argument);
  EXPECT_THROW(paired_ratio({1}, {std::nan("")}, 0.95), std::invalid_argument);
}

TEST(CorrectedConfidence, SharesTheErrorAmongTheComparisons) {
  EXPECT_DOUBLE_EQ(corrected_confidence(0.95, 1), 0.95);
  EXPECT_DOUBLE_EQ(corrected_confidence(0.95, 5), 0.99);
  EXPECT_DOUBLE_EQ(corrected_confidence(0.95, 0), 0.95);
  EXPECT_THROW(corrected_confidence(1.5, 3), std::invalid_argument);
}

TEST(MedianInterval, AnInflatedVarianceMovesTheEndsAwayInRanks) {
  std::vector<double> values;
  for (int i = 1; i <= 41; ++i) values.push_back(i);
  const MedianInterval exact = median_interval(values, 0.95);
  EXPECT_EQ(exact.low, 14);  // 7 ranks from the middle, 21
  EXPECT_EQ(exact.high, 28);
  const MedianInterval wide = median_interval(values, 0.95, 4);
  EXPECT_EQ(wide.low, 7);
  EXPECT_EQ(wide.high, 35);
  EXPECT_EQ(wide.coverage, exact.coverage);
  EXPECT_EQ(wide.median, 21);
  EXPECT_EQ(median_interval(values, 0.95, 2).low, 11);  // 9.9 ranks, the next beyond

  // 20 ranks are what there is: as independent values 2 ranks from the middle have it, times 10.
  const MedianInterval beyond = median_interval(values, 0.95, 100);
  EXPECT_EQ(beyond.low, 1);
  EXPECT_EQ(beyond.high, 41);
  EXPECT_LT(beyond.coverage, 0.5);
  EXPECT_GT(beyond.coverage, 0.4);
  EXPECT_EQ(median_interval({1, 2, 3, 4, 5, 6, 7, 8, 9}, 0.95, 1e6).coverage, 0);
  EXPECT_THROW(median_interval(values, 0.95, 0.5), std::invalid_argument);
}

TEST(PairedRatio, ThatIsWidenedBeyondItsSampleResolvesNothing) {
  const std::vector<double> slow(12, 2.0), quick(12, 1.0);
  EXPECT_TRUE(paired_ratio(slow, quick, 0.95).resolved);
  EXPECT_TRUE(paired_ratio(slow, quick, 0.95, 1.2).resolved);
  EXPECT_FALSE(paired_ratio(slow, quick, 0.95, 9).resolved);
  EXPECT_EQ(quotients({4, 6, 1}, {2, 3}), (std::vector<double>{2, 2}));
}

}  // namespace
}  // namespace amasia
