#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "harness/statistics/statistics.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {
namespace {

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

TEST(BinomialUpperTail, IsTheSumOfItsTerms) {
  EXPECT_DOUBLE_EQ(binomial_upper_tail(10, 0, 0.5), 1);
  EXPECT_NEAR(binomial_upper_tail(10, 10, 0.5), std::pow(0.5, 10), 1e-15);
  EXPECT_NEAR(binomial_upper_tail(10, 1, 0.1), 1 - std::pow(0.9, 10), 1e-12);
  EXPECT_NEAR(binomial_upper_tail(3, 2, 0.2), 3 * 0.04 * 0.8 + 0.008, 1e-12);
  EXPECT_EQ(binomial_upper_tail(5, 6, 0.5), 0);
  EXPECT_NEAR(binomial_upper_tail(1000, 1, 1e-3), 1 - std::pow(0.999, 1000), 1e-9);
}

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

void expect_near(double found, const nlohmann::ordered_json& expected) {
  const double value = expected.get<double>();
  EXPECT_NEAR(found, value, 1e-9 * std::abs(value));
}

/// tests/plots/test_statistics.py reads the same cases.
TEST(IntervalRule, GivesTheIntervalsOfPython) {
  int by_student = 0;
  const auto table = read_json_file(AMASIA_SOURCE_DIR "/tests/plots/interval_cases.json");
  for (const auto& c : table["cases"]) {
    SCOPED_TRACE(c["name"].get<std::string>());
    const auto values = c["values"].get<std::vector<double>>();
    const double confidence = c["confidence"].get<double>();
    expect_near(estimated_inflation(values), c["inflation"]);
    const std::vector<double> ones(values.size(), 1.0);
    const RatioInterval ratio = ratio_by(IntervalRule::effective, values, ones, confidence);
    const MedianInterval median = median_by(IntervalRule::effective, values, confidence);
    expect_near(ratio.ratio, c["ratio"]);
    expect_near(ratio.low, c["low"]);
    expect_near(ratio.high, c["high"]);
    expect_near(ratio.coverage, c["coverage"]);
    EXPECT_EQ(ratio.resolved, c["resolved"].get<bool>());
    expect_near(median.low, c["low"]);
    expect_near(median.high, c["high"]);
    expect_near(median.coverage, c["coverage"]);
    by_student += c["by"] == "Student";
    // By the rule before, what has no ranks covers too little.
    if (c["by"] == "ranks") {
      EXPECT_DOUBLE_EQ(ratio_by(IntervalRule::widened, values, ones, confidence).low, ratio.low);
    }
  }
  EXPECT_GE(by_student, 10);
}

TEST(IntervalRule, StudentsIntervalHoldsTheWholeSample) {
  std::vector<double> values(8, 1.1);
  values[3] = 1.3;  // seven of eight say the same
  const MedianInterval m = median_by(IntervalRule::effective, values, 0.999);
  EXPECT_LE(m.low, 1.1);
  EXPECT_GE(m.high, 1.3);
  EXPECT_EQ(m.coverage, 0.999);
  EXPECT_EQ(m.median, 1.1);
  EXPECT_LT(median_by(IntervalRule::exact, values, 0.999).coverage, 0.999);
  EXPECT_LT(median_by({}, values, 0.999).coverage, 0.999);
}

}  // namespace
}  // namespace amasia
