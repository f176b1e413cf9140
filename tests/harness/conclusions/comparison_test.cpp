#include "harness/conclusions/comparison.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "harness/statistics/interval_rule.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {
namespace {

using Times = std::vector<double>;

Row row(const std::string& variant, Role role, const Times& times, int repeat = 0) {
  Row r;
  r.variant = variant;
  r.role = role;
  r.repeat = repeat;
  for (std::size_t i = 0; i < times.size(); ++i) {
    r.samples.push_back(
        {static_cast<int>(i), 0, static_cast<float>(times[i]), std::nullopt, false});
  }
  return r;
}

TEST(UsableTimes, AreThoseNotThrottledOrAllWhenAllWere) {
  Row r = row("a/tma", Role::iso, {1, 2, 3});
  r.samples[1].throttled = true;
  EXPECT_FALSE(always_throttled(r));
  EXPECT_EQ(usable_times(r), (Times{1, 3}));
  for (Sample& s : r.samples) s.throttled = true;
  EXPECT_TRUE(always_throttled(r));
  EXPECT_EQ(usable_times(r), (Times{1, 2, 3}));
  EXPECT_TRUE(usable_times(Row{}).empty());
}

TEST(PairedTimes, ComeFromTheSameRound) {
  Row a = row("a/baseline", Role::iso, {1, 2, 3, 4});
  Row b = row("a/tma", Role::iso, {10, 20, 30, 40});
  auto [left, right] = paired_times(a, b);
  EXPECT_EQ(left, (Times{1, 2, 3, 4}));
  EXPECT_EQ(right, (Times{10, 20, 30, 40}));
  // A round that either lacks is left out, whichever of the two it is.
  a.samples.erase(a.samples.begin());
  b.samples.erase(b.samples.begin() + 2);
  std::tie(left, right) = paired_times(a, b);
  EXPECT_EQ(left, (Times{2, 4}));
  EXPECT_EQ(right, (Times{20, 40}));
  // So is one that throttled either, unless the row is always throttled.
  a.samples[0].throttled = true;
  std::tie(right, left) = paired_times(b, a);
  EXPECT_EQ(left, Times{4});
  EXPECT_EQ(right, Times{40});
  for (Sample& s : a.samples) s.throttled = true;
  EXPECT_EQ(paired_times(a, b).first, (Times{2, 4}));
}

TEST(ReferenceOf, IsTheBaselineInTheSameRole) {
  const std::vector<Row> rows{
      row("a/baseline", Role::iso, {}),     row("a/baseline", Role::iso, {}, 1),
      row("a/baseline", Role::best, {}),    row("a/baseline", Role::best, {}, 1),
      row("a/tma", Role::iso, {}),          row("a/tma", Role::best, {}),
      row("a/cublas", Role::comparator, {})};
  EXPECT_EQ(reference_of(rows, rows[0]), nullptr);
  EXPECT_EQ(reference_of(rows, rows[1]), &rows[0]);  // the control: the same once more
  EXPECT_EQ(reference_of(rows, rows[3]), &rows[2]);
  EXPECT_EQ(reference_of(rows, rows[4]), &rows[0]);
  EXPECT_EQ(reference_of(rows, rows[5]), &rows[2]);
  EXPECT_EQ(reference_of(rows, rows[6]), &rows[2]);
  std::vector<Row> failed = rows;
  failed[0].status = RowStatus::failed;
  EXPECT_EQ(reference_of(failed, failed[4]), nullptr);  // its control does not stand in
}

TEST(CompareRows, ASpellingAlsoAgainstItsStrategyInTheSameConfig) {
  const auto in = [](Row r, const std::string& config) {
    r.config = config;
    return r;
  };
  std::vector<Row> rows{in(row("a/baseline", Role::best, Times(12, 6.0)), "wide"),
                        in(row("a/words", Role::comparator, Times(12, 3.0)), "wide"),
                        in(row("a/tma", Role::best, Times(12, 1.0)), "tall"),
                        in(row("a/tma", Role::counterpart, Times(12, 2.0)), "wide")};
  EXPECT_EQ(compare_rows(rows, 0.95).size(), 2u);  // nothing is said to be spelled
  rows[1].spells = "tma";
  const auto comparisons = compare_rows(rows, 0.95);
  ASSERT_EQ(comparisons.size(), 3u);
  EXPECT_EQ(comparisons[1].role, Role::counterpart);
  EXPECT_EQ(comparisons[1].variant, "a/words");
  EXPECT_EQ(comparisons[1].against, "a/tma");
  EXPECT_DOUBLE_EQ(comparisons[1].speedup.ratio, 2.0 / 3);
  EXPECT_EQ(reference_of(rows, rows[3]), nullptr);
  const auto pair = rows_of(rows, comparisons[1]);
  ASSERT_TRUE(pair.has_value());
  EXPECT_EQ(pair->reference, &rows[3]);
  rows[3].status = RowStatus::failed;
  EXPECT_EQ(compare_rows(rows, 0.95).size(), 2u);
}

TEST(CompareRows, DivideTheBaselineByTheRow) {
  const std::vector<Row> rows{
      row("a/baseline", Role::iso, Times(12, 6.0)), row("a/baseline", Role::iso, Times(12, 6.0), 1),
      row("a/tma", Role::iso, Times(12, 2.0)), row("a/dsm", Role::iso, Times(12, 12.0)),
      row("a/drop_off", Role::candidate, Times(12, 1.0))};
  const auto comparisons = compare_rows(rows, 0.95);
  ASSERT_EQ(comparisons.size(), 3u);
  EXPECT_TRUE(comparisons[0].control);
  EXPECT_EQ(comparisons[0].speedup.ratio, 1);
  EXPECT_EQ(comparisons[0].verdict, SpeedVerdict::not_resolved);
  EXPECT_FALSE(comparisons[1].control);
  EXPECT_EQ(comparisons[1].variant, "a/tma");
  EXPECT_EQ(comparisons[1].against, "a/baseline");
  EXPECT_DOUBLE_EQ(comparisons[1].speedup.ratio, 3);
  EXPECT_EQ(comparisons[1].verdict, SpeedVerdict::faster);
  EXPECT_DOUBLE_EQ(comparisons[2].speedup.ratio, 0.5);
  EXPECT_EQ(comparisons[2].verdict, SpeedVerdict::slower);
}

TEST(CompareRows, ShareTheConfidence) {
  const Row baseline = row("a/baseline", Role::iso, Times(6, 6.0));
  const Row tma = row("a/tma", Role::iso, Times(6, 2.0));
  // Six pairs reach 96.9 %: enough for one comparison at 95 %, not for two.
  EXPECT_TRUE(compare_rows({baseline, tma}, 0.95)[0].speedup.resolved);
  const auto two = compare_rows({baseline, tma, row("a/dsm", Role::iso, Times(6, 2.0))}, 0.95);
  EXPECT_FALSE(two[0].speedup.resolved);
  EXPECT_FALSE(two[1].speedup.resolved);
}

TEST(CompareRows, SayNothingWithoutARoundInCommon) {
  Row late = row("a/tma", Role::iso, {1, 1});
  for (Sample& s : late.samples) s.round += 10;
  EXPECT_TRUE(compare_rows({row("a/baseline", Role::iso, {1, 1}), late}, 0.95).empty());
}

std::vector<Sample> timed_samples(const nlohmann::ordered_json& columns) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < columns["round"].size(); ++i) {
    Sample& s = samples.emplace_back();
    s.round = columns["round"][i].get<int>();
    s.time_ms = columns["time_ms"][i].get<float>();
  }
  return samples;
}

// A first look at nw that once said "not resolved" of everything.
TEST(CompareRows, WhatEveryRoundShowsIsClaimed) {
  const nlohmann::ordered_json nw =
      read_json_file(AMASIA_SOURCE_DIR "/tests/plots/first_look_nw.json");
  std::vector<Row> rows;
  for (const nlohmann::ordered_json& r : nw["rows"]) {
    Row& row = rows.emplace_back();
    row.variant = r["variant"].get<std::string>();
    row.role = *find_word<Role>(r["role"].get<std::string>());
    row.repeat = r["repeat"].get<int>();
    row.schedule = r.value("schedule", "");
    row.status = RowStatus::ok;
    row.samples = timed_samples(r["samples"]);
    if (r.contains("repeat_samples")) row.repeat_samples = timed_samples(r["repeat_samples"]);
  }
  const auto claims = [&](IntervalRule rule) {
    std::map<std::string, std::string> found;
    for (const Comparison& c : compare_rows(rows, nw["confidence"].get<double>(), rule)) {
      found[c.variant + " " + std::string(word_of(c.role)) + (c.control ? " control" : "")] =
          word_of(c.claim);
    }
    return found;
  };
  EXPECT_EQ(claims(newest_rule), (nw["claims"].get<std::map<std::string, std::string>>()));
  EXPECT_EQ(claims(IntervalRule::widened)["nw/tma best"], "not resolved");
}

}  // namespace
}  // namespace amasia
