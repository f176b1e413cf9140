#include "harness/statistics/statistics.hpp"

#include "harness/statistics/schedule.hpp"
#include "harness/text/json_file.hpp"
#include "tests/test.hpp"

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

TEST(CorrectedConfidence, SharesTheErrorAmongTheComparisons) {
  EXPECT_DOUBLE_EQ(corrected_confidence(0.95, 1), 0.95);
  EXPECT_DOUBLE_EQ(corrected_confidence(0.95, 5), 0.99);
  EXPECT_DOUBLE_EQ(corrected_confidence(0.95, 0), 0.95);
  EXPECT_THROW(corrected_confidence(1.5, 3), std::invalid_argument);
}

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

TEST_P(Schedules, EveryEntryTakesEveryPositionAndFollowsEveryOtherEquallyOften) {
  const int n = GetParam(), rounds = rounds_per_cycle(n);
  std::map<std::pair<int, int>, int> places, followers;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<int> order = round_order(n, round);
    for (int position = 0; position < n; ++position) {
      ++places[{order[position], position}];
      if (position > 0) ++followers[{order[position - 1], order[position]}];
    }
  }
  EXPECT_EQ(places.size(), static_cast<std::size_t>(n * n));
  EXPECT_EQ(followers.size(), static_cast<std::size_t>(n * (n - 1)));
  for (const auto& [place, count] : places) EXPECT_EQ(count, rounds / n);
  for (const auto& [pair, count] : followers) EXPECT_EQ(count, rounds / n);
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

StoppingRule rule() {
  StoppingRule r;
  r.min_count = 3;
  r.max_count = 8;
  r.seconds = 2;
  return r;
}

TEST(StoppingRule, NamesTheReasonOrGoesOn) {
  StoppingRule in_time = rule(), patient = rule(), for_fewer = rule();
  in_time.min_count_in_time = 3;
  patient.min_count = 6;
  patient.patience = 4;  // to 8 seconds
  for_fewer = patient;
  for_fewer.least_count = 4;
  const struct {
    const StoppingRule& rule;
    int count;
    double seconds;
    bool narrow;
    std::optional<StopReason> reason;
  } cases[] = {
      {rule(), 3, 1.9, false, std::nullopt},
      {rule(), 7, 1.9, false, std::nullopt},
      {rule(), 2, 0, true, std::nullopt},  // an early narrow interval is not believed
      {rule(), 3, 0, true, StopReason::narrow_enough},
      {rule(), 8, 0, false, StopReason::round_limit},
      {rule(), 4, 2.0, false, StopReason::time_limit},
      // What was reached counts more than what ran out.
      {rule(), 8, 9, true, StopReason::narrow_enough},
      {rule(), 8, 9, false, StopReason::round_limit},
      // Time ends it before the least count unless that is wanted.
      {rule(), 1, 2.5, false, StopReason::time_limit},
      {in_time, 2, 2.5, false, std::nullopt},
      {in_time, 3, 2.5, false, StopReason::time_limit},
      // The least count is waited for where it comes in reasonable time: six in 7.5, in 8.4.
      {patient, 2, 2.5, false, std::nullopt},
      {patient, 2, 2.8, false, StopReason::time_limit},
      {patient, 5, 6.5, false, std::nullopt},
      {patient, 6, 7.5, false, StopReason::time_limit},
      {patient, 6, 7.5, true, StopReason::narrow_enough},
      {patient, 5, 8.5, false, StopReason::time_limit},  // slower than it seemed
      // Fewer where it comes too late: four in 8, in 8.4.
      {for_fewer, 1, 2.0, false, std::nullopt},
      {for_fewer, 1, 2.1, false, StopReason::time_limit},
      {for_fewer, 4, 7.5, false, StopReason::time_limit},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.rule.reason(c.count, c.seconds, [&] { return c.narrow; }), c.reason) << &c - cases;
  }
}

TEST(StoppingRule, ValuesArePreciseWhenTheirIntervalIsNarrowAndCovers) {
  StoppingRule r = rule();
  r.precision = 0.01;
  EXPECT_FALSE(r.precise(std::vector<double>{}));
  EXPECT_FALSE(r.precise(std::vector<double>(5, 1.0)));  // 5 cover 93.75 %
  EXPECT_TRUE(r.precise(std::vector<double>(6, 1.0)));
  EXPECT_TRUE(r.precise(std::vector<double>{0.991, 0.995, 1, 1, 1.005, 1.009}));
  EXPECT_FALSE(r.precise(std::vector<double>{0.985, 0.995, 1, 1, 1.005, 1.015}));
}

TEST(StoppingRule, RatiosArePreciseWhenAllAreAtTheirJointConfidence) {
  StoppingRule r = rule();
  r.precision = 0.01;
  const RatioInterval narrow{1, 0.995, 1.005, 0.97, 9, false};
  const RatioInterval wide{1, 0.98, 1.005, 0.97, 9, false};
  EXPECT_TRUE(r.precise(std::vector{narrow}));
  EXPECT_FALSE(r.precise(std::vector{wide}));
  EXPECT_FALSE(r.precise(std::vector{narrow, narrow}));  // two need 97.5 % each
  RatioInterval surer = narrow;
  surer.coverage = 0.98;
  EXPECT_TRUE(r.precise(std::vector{surer, surer}));
  RatioInterval surer_wide = wide;
  surer_wide.coverage = 0.98;
  EXPECT_FALSE(r.precise(std::vector{surer, surer_wide}));
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

TEST(BinomialUpperTail, IsTheSumOfItsTerms) {
  EXPECT_DOUBLE_EQ(binomial_upper_tail(10, 0, 0.5), 1);
  EXPECT_NEAR(binomial_upper_tail(10, 10, 0.5), std::pow(0.5, 10), 1e-15);
  EXPECT_NEAR(binomial_upper_tail(10, 1, 0.1), 1 - std::pow(0.9, 10), 1e-12);
  EXPECT_NEAR(binomial_upper_tail(3, 2, 0.2), 3 * 0.04 * 0.8 + 0.008, 1e-12);
  EXPECT_EQ(binomial_upper_tail(5, 6, 0.5), 0);
  EXPECT_NEAR(binomial_upper_tail(1000, 1, 1e-3), 1 - std::pow(0.999, 1000), 1e-9);
}

void expect_near(double found, const nlohmann::ordered_json& expected) {
  const double value = expected.get<double>();
  EXPECT_NEAR(found, value, 1e-9 * std::abs(value));
}

/// tests/plots/test_statistics.py reads the same cases.
TEST(IntervalRule, GivesTheIntervalsOfPython) {
  int by_student = 0;
  const auto table = read_json_file(AMASIA_SOURCE_DIR "/tests/plots/statistics_cases.json");
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
