#include "harness/conclusions/recomputed.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "harness/conclusions/claim.hpp"
#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/floor.hpp"
#include "harness/conclusions/summary.hpp"
#include "harness/results/profile.hpp"

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

template <class Edit>
std::string refusal_of(const Edit& edit) {
  ResultFile file = sample_results();
  edit(file.groups[0]);
  return message_of<ResultError>([&] { check_summaries(file); });
}

TEST(CheckSummaries, TakesWhatFollowsFromTheSamplesAndNamesWhatDoesNot) {
  EXPECT_NO_THROW(check_summaries(sample_results()));
  EXPECT_EQ(refusal_of([](GroupResult& g) { g.comparisons[1].speedup.ratio = 9.99; }),
            "groups[0].comparisons[1].speedup.ratio: expected 1.2487511520871313, as the samples "
            "have it, found "
            "9.99 (hotspot rows=512,cols=512,chip=scaled cold stream, hotspot/tma iso against "
            "hotspot/baseline)");
  EXPECT_EQ(refusal_of([](GroupResult& g) { g.rows[2].time_ms->n = 8; }),
            "groups[0].rows[2].time_ms.n: expected 9, as the samples have it, found 8 (hotspot "
            "rows=512,cols=512,chip=scaled cold stream, hotspot/tma iso)");
  const std::pair<const char*, std::function<void(GroupResult&)>> edits[] = {
      {"comparisons[1].speedup.low", [](GroupResult& g) { g.comparisons[1].speedup.low /= 2; }},
      {"comparisons[1].speedup.coverage",
       [](GroupResult& g) { g.comparisons[1].speedup.coverage = 0.96; }},
      {"comparisons[1].speedup.n", [](GroupResult& g) { ++g.comparisons[1].speedup.n; }},
      {"comparisons[1].speedup.resolved",
       [](GroupResult& g) { g.comparisons[1].speedup.resolved = false; }},
      {"rows[2].time_ms.median", [](GroupResult& g) { g.rows[2].time_ms->median *= 0.9; }},
      {"rows[2].time_ms.low", [](GroupResult& g) { g.rows[2].time_ms->low *= 0.999; }},
      {"rows[2].time_ms.maximum", [](GroupResult& g) { g.rows[2].time_ms->maximum *= 2; }},
      {"rows[2].time_ms.median", [](GroupResult& g) { g.rows[2].samples[4].time_ms *= 2; }},
      {"rows[2].time_ms", [](GroupResult& g) { g.rows[2].time_ms.reset(); }},
      {"rows[2].floor_fraction", [](GroupResult& g) { *g.rows[2].floor_fraction *= 1.01; }},
      {"rows[2].floor_fraction", [](GroupResult& g) { g.rows[2].floor_fraction.reset(); }},
      {"rows[2].gflops", [](GroupResult& g) { *g.rows[2].gflops *= 1.01; }},
      {"rows[2].gbytes_per_s", [](GroupResult& g) { *g.rows[2].gbytes_per_s *= 1.01; }},
      {"floor.bytes_ms", [](GroupResult& g) { g.floor->bytes_ms *= 0.9; }},
      {"floor.operations_ms", [](GroupResult& g) { g.floor->operations_ms *= 1.01; }},
      {"floor.dependency_ms", [](GroupResult& g) { g.floor->dependency_ms = 1e-9; }},
      {"rounds", [](GroupResult& g) { g.rounds = 40; }},
      {"comparisons[1].itself.ratio", [](GroupResult& g) { g.comparisons[1].itself->ratio = 1; }},
      {"comparisons[1].itself.resolved",
       [](GroupResult& g) { g.comparisons[1].itself->resolved = true; }},
      {"comparisons[1].itself", [](GroupResult& g) { g.comparisons[1].itself.reset(); }},
      {"comparisons[1].itself", [](GroupResult& g) { g.rows[2].repeat_samples.clear(); }},
      {"comparisons[1].itself.ratio",
       [](GroupResult& g) { g.rows[2].repeat_samples[0].time_ms *= 1.1F; }},
      {"rows[2].repeat_samples.round[1]",
       [](GroupResult& g) { g.rows[2].repeat_samples[1].round = 2; }},
      {"rows[2].repeat_samples", [](GroupResult& g) { g.rows[2].repeat_samples[1].round = 9; }},
      {"rows[2].samples.round[5]", [](GroupResult& g) { g.rows[2].samples[5].round = 4; }},
      // Of the same samples, but of less confidence than was asked for.
      {"comparisons[1].speedup.low",
       [](GroupResult& g) {
         const auto [reference, times] = paired_times(g.rows[0], g.rows[2]);
         g.comparisons[1].speedup = paired_ratio(reference, times, 0.5);
       }},
      {"comparisons[1].verdict",
       [](GroupResult& g) {
         g.comparisons[1].verdict = SpeedVerdict::slower;
         g.comparisons[1].claim = SpeedClaim::slower;
       }},
      // Slower by its own interval, and no slower than the baseline is than itself.
      {"comparisons[4].claim", [](GroupResult& g) { g.comparisons[4].claim = SpeedClaim::slower; }},
      {"comparisons", [](GroupResult& g) { g.comparisons.pop_back(); }},
      {"comparisons", [](GroupResult& g) { g.comparisons.push_back(g.comparisons.back()); }},
      {"comparisons[1]", [](GroupResult& g) { g.comparisons[1].against = "hotspot/tma"; }},
      {"comparisons[0]", [](GroupResult& g) { g.comparisons[0].control = false; }},
      {"rows[3].time_ms", [](GroupResult& g) { g.rows[3].samples.clear(); }},
      {"rows[2].samples", [](GroupResult& g) { g.rows[2].status = RowStatus::crashed; }},
      {"rows[2].status", [](GroupResult& g) { g.rows[2].verdict->passed = false; }},
  };
  for (const auto& [place, edit] : edits) {
    EXPECT_TRUE(contains(refusal_of(edit), "groups[0]." + std::string(place) + ": expected"));
  }
}

TEST(CheckSummaries, TheRuleOfIntervalsIsTheGroupsOwn) {
  // Times that rise and fall once: rounds that resemble the ones before.
  ResultFile file = sample_results();
  GroupResult& group = file.groups[0];
  for (std::size_t i = 0; i < group.rows[2].samples.size(); ++i) {
    group.rows[2].samples[i].time_ms = 0.016F * (1 + 0.002F * static_cast<float>(i));
  }
  recompute(group, 0.95);
  EXPECT_NO_THROW(check_summaries(file));
  const double wide = group.rows[2].time_ms->high;
  // A group from before there was a rule is exact, and is checked as such.
  group.interval_rule.reset();
  EXPECT_TRUE(contains(message_of<ResultError>([&] { check_summaries(file); }),
                       "groups[0].rows[2].time_ms."));
  recompute(group, 0.95);
  EXPECT_NO_THROW(check_summaries(file));
  EXPECT_LT(group.rows[2].time_ms->high, wide);
  group.interval_rule = IntervalRule::exact;
  EXPECT_NO_THROW(check_summaries(file));
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

TEST(CheckSummaries, RefusesAClaimFromAGroupThatIsNotValid) {
  const auto disturb = [](GroupResult& g) {
    g.invalid = {{InvalidKind::drift, "it drifted", "measure again"}};
  };
  EXPECT_TRUE(contains(refusal_of(disturb),
                       "groups[0].comparisons[0].claim: expected measurement invalid"));
  ResultFile file = sample_results();
  disturb(file.groups[0]);
  set_claims(file.groups[0]);
  EXPECT_NO_THROW(check_summaries(file));
  // Nor may a valid group be called otherwise.
  file.groups[0].invalid.clear();
  EXPECT_THROW(check_summaries(file), ResultError);
}

TEST(CheckSummaries, RefusesCeilingsThatTheirSamplesDoNotGive) {
  const auto refusal = [](const auto& edit) {
    ResultFile file = sample_results();
    edit(file);
    return message_of<ResultError>([&] { check_summaries(file); });
  };
  EXPECT_EQ(refusal([](ResultFile& f) { f.ceilings[0].value = 5000; }),
            "ceilings[0].value: expected 4280, as the samples have it, found 5000 "
            "(copy_bandwidth)");
  EXPECT_TRUE(contains(refusal([](ResultFile& f) { f.ceilings[1].samples.clear(); }),
                       "ceilings[1].value: expected no ceiling"));
  EXPECT_TRUE(contains(refusal([](ResultFile& f) { f.ceilings.erase(f.ceilings.begin()); }),
                       "groups[0].floor: expected nothing, as the ceilings have it"));
}

/// In a merged file the ceilings are of all parts, a floor is of its own.
TEST(CheckSummaries, TakesAFloorOfAnyOfTheCeilingsSamples) {
  ResultFile file = sample_results();
  file.ceilings[0].samples = {4000, 4280, 4300};
  GroupResult& group = file.groups[0];
  std::vector<Ceiling> part = file.ceilings;
  part[0].value = 4000;
  group.floor = compute_floor(group.work, part);
  recompute(group, 0.95);
  EXPECT_NO_THROW(check_summaries(file));
  part[0].value = 3999;
  group.floor = compute_floor(group.work, part);
  recompute(group, 0.95);
  EXPECT_TRUE(contains(message_of<ResultError>([&] { check_summaries(file); }),
                       "groups[0].floor.bytes_ms: expected 0.0"));
}

TEST(CheckSummaries, TheConfidenceIsTheOneThatWasAskedFor) {
  ResultFile file = sample_results();
  file.provenance.settings["confidence"] = "0.8";
  EXPECT_TRUE(contains(message_of<ResultError>([&] { check_summaries(file); }), "time_ms."));
  for (GroupResult& group : file.groups) recompute(group, 0.8);
  EXPECT_NO_THROW(check_summaries(file));
  for (const char* wrong : {"", "0.8x", "nan", "1", "0", "-1", "95 %"}) {
    file.provenance.settings["confidence"] = wrong;
    EXPECT_TRUE(contains(message_of<ResultError>([&] { check_summaries(file); }),
                         "provenance.settings.confidence: expected a number between 0 and 1"))
        << wrong;
  }
}

TEST(CheckSummaries, MicrobenchmarksAreHeldAgainstTheirReadings) {
  ResultFile file;
  MicrobenchmarkRow row;
  row.at = {{"level", "l1"}};
  row.quantity = "latency";
  row.samples = {{1, 10, 5.0, 1980.0}, {2, 20, 6.0, std::nullopt}, {3, 30, 7.0, 1980.0}};
  file.microbenchmarks.push_back({});
  file.microbenchmarks[0].name = "memory/latency";
  file.microbenchmarks[0].rows = {row};
  recompute(file.microbenchmarks[0], 0.95);
  const MicrobenchmarkRow right = file.microbenchmarks[0].rows[0];
  EXPECT_EQ(right.value->median, 2);
  EXPECT_EQ(right.cycles, 20);
  EXPECT_EQ(right.clock_mhz, std::nullopt) << "not every reading has one";
  EXPECT_NO_THROW(check_summaries(file));
  const auto refusal = [&](const auto& edit) {
    file.microbenchmarks[0].rows[0] = right;
    edit(file.microbenchmarks[0].rows[0]);
    return message_of<ResultError>([&] { check_summaries(file); });
  };
  EXPECT_EQ(refusal([](MicrobenchmarkRow& r) { r.cycles = 21; }),
            "microbenchmarks[0].rows[0].cycles: expected 20, as the samples have it, found 21 "
            "(memory/latency, latency at level=l1)");
  EXPECT_TRUE(contains(refusal([](MicrobenchmarkRow& r) { r.value->median = 2.5; }),
                       "microbenchmarks[0].rows[0].value.median: expected 2,"));
  EXPECT_TRUE(contains(refusal([](MicrobenchmarkRow& r) { r.time_ns.reset(); }),
                       "rows[0].time_ns: expected 6, as the samples have it, found nothing"));
  EXPECT_TRUE(contains(refusal([](MicrobenchmarkRow& r) { r.clock_mhz = 1980; }),
                       "rows[0].clock_mhz: expected nothing"));
  EXPECT_TRUE(contains(refusal([](MicrobenchmarkRow& r) { r.status = RowStatus::failed; }),
                       "rows[0].value: expected nothing"));
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
