#include "harness/conclusions/recomputed.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

nlohmann::ordered_json recomputed(ResultFile file) {
  recompute(file);
  return to_json(file);
}

TEST(Recompute, SaysAnewWhatFollowsFromTheSamples) {
  const auto expected = recomputed(sample_results());
  EXPECT_EQ(expected, to_json(sample_results()));
  const std::function<void(GroupResult&)> edits[] = {
      [](GroupResult& g) { g.comparisons[1].speedup.ratio = 9.99; },
      [](GroupResult& g) { g.comparisons[1].itself.reset(); },
      [](GroupResult& g) { g.comparisons[1].verdict = SpeedVerdict::slower; },
      // Slower by its own interval, and no slower than the baseline is than itself.
      [](GroupResult& g) { g.comparisons[4].claim = SpeedClaim::slower; },
      [](GroupResult& g) { g.comparisons.pop_back(); },
      [](GroupResult& g) { g.comparisons.push_back(g.comparisons.back()); },
      [](GroupResult& g) { g.rows[2].time_ms->median *= 0.9; },
      [](GroupResult& g) { g.rows[2].time_ms.reset(); },
      [](GroupResult& g) { g.rows[2].floor_fraction.reset(); },
      [](GroupResult& g) { *g.rows[2].gflops *= 1.01; },
      [](GroupResult& g) { *g.rows[2].gbytes_per_s *= 1.01; },
  };
  for (const auto& edit : edits) {
    ResultFile file = sample_results();
    edit(file.groups[0]);
    EXPECT_EQ(recomputed(file), expected);
  }
  ResultFile file = sample_results();
  file.ceilings[0].value = 5000;
  EXPECT_EQ(recomputed(file), expected);
  file.groups[0].rows[2].samples[4].time_ms *= 2;
  EXPECT_NE(recomputed(file), expected);
}

TEST(Recompute, NamesWhatNothingCanBeComputedFrom) {
  const std::pair<const char*, std::function<void(ResultFile&)>> cases[] = {
      {"groups[0].rows[2].repeat_samples.round[1]: expected at least 4",
       [](ResultFile& f) { f.groups[0].rows[2].repeat_samples[1].round = 2; }},
      {"groups[0].rows[2].samples.round[5]: expected at least",
       [](ResultFile& f) { f.groups[0].rows[2].samples[5].round = 4; }},
      {"ceilings: expected samples that can be compared: the median of no values",
       [](ResultFile& f) { f.ceilings[1].samples.clear(); }},
  };
  for (const auto& [error, edit] : cases) {
    ResultFile file = sample_results();
    edit(file);
    EXPECT_TRUE(contains(message_of<ResultError>([&] { recompute(file); }), error));
  }
}

TEST(JudgeAnew, AnOlderGroupIsJudgedAsANewOne) {
  ResultFile file = sample_results();
  GroupResult& group = file.groups[0];
  for (std::size_t i = 0; i < group.rows[2].samples.size(); ++i) {
    group.rows[2].samples[i].time_ms = 0.016F * (1 + 0.002F * static_cast<float>(i));
  }
  recompute(group, 0.95);
  const auto expected = to_json(group);
  group.interval_rule = IntervalRule::widened;
  recompute(group, 0.95);
  EXPECT_NE(to_json(group), expected);
  judge_anew(group, 0.95);
  EXPECT_EQ(to_json(group), expected);
  // A search claims nothing, and is not judged.
  for (Row& row : group.rows) row.role = Role::candidate;
  group.interval_rule.reset();
  judge_anew(group, 0.95);
  EXPECT_FALSE(group.interval_rule.has_value());
}

TEST(Recompute, TheConfidenceIsTheOneThatWasAskedFor) {
  ResultFile file = sample_results();
  file.provenance.settings["confidence"] = "0.8";
  recompute(file);
  GroupResult expected = sample_results().groups[0];
  recompute(expected, 0.8);
  EXPECT_EQ(to_json(file.groups[0]), to_json(expected));
  for (const char* wrong : {"", "0.8x", "nan", "1", "0", "-1", "95 %"}) {
    file.provenance.settings["confidence"] = wrong;
    EXPECT_TRUE(contains(message_of<ResultError>([&] { recompute(file); }),
                         "provenance.settings.confidence: expected a number between 0 and 1"))
        << wrong;
  }
}

TEST(Recompute, MicrobenchmarksFromTheirReadings) {
  ResultFile file;
  MicrobenchmarkRow row;
  row.samples = {{1, 10, 5.0, 1980.0}, {2, 20, 6.0, std::nullopt}, {3, 30, 7.0, 1980.0}};
  row.clock_mhz = 1980;
  file.microbenchmarks.emplace_back().rows = {row};
  recompute(file);
  MicrobenchmarkRow& found = file.microbenchmarks[0].rows[0];
  EXPECT_EQ(found.value->median, 2);
  EXPECT_EQ(found.cycles, 20);
  EXPECT_EQ(found.time_ns, 6);
  EXPECT_EQ(found.clock_mhz, std::nullopt) << "not every reading has one";
  found.status = RowStatus::failed;
  recompute(file);
  EXPECT_EQ(found.value, std::nullopt);
}

TEST(Floors, WhatFollowsFromAFloorIsCheckedWhenItIsRead) {
  const auto refusal = [](const char* member, const nlohmann::ordered_json& value) {
    auto json = to_json(sample_results());
    json["groups"][0]["floor"][member] = value;
    return message_of<ResultError>([&] { result_from_json(json); });
  };
  EXPECT_TRUE(contains(refusal("floor_ms", 1.5), "groups[0].floor.floor_ms: expected 0.000"));
  EXPECT_EQ(refusal("bound_by", "dependency"),
            "groups[0].floor.bound_by: expected bytes, as the members beside it have it, found "
            "\"dependency\"");
}

}  // namespace
}  // namespace amasia
