#include "harness/statistics/interval_rule.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/statistics/series.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {
namespace {

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

TEST(IntervalRule, RefusesWhatTheExactOneRefuses) {
  EXPECT_THROW(median_by(IntervalRule::effective, {}, 0.95), std::invalid_argument);
  EXPECT_THROW(median_by(IntervalRule::effective, {1, 2}, 1), std::invalid_argument);
  EXPECT_THROW(ratio_by(IntervalRule::effective, {1, 2}, {1}, 0.95), std::invalid_argument);
  EXPECT_THROW(ratio_by(IntervalRule::effective, {1, 2}, {1, 0}, 0.95), std::invalid_argument);
}

}  // namespace
}  // namespace amasia
