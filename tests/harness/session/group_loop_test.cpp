// The loop that measures a group, on a device that does as the script says.
#include "harness/session/group_loop.hpp"

#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/registry.hpp"
#include "harness/session/completion.hpp"
#include "harness/session/session.hpp"
#include "harness/statistics/schedule.hpp"
#include "tests/harness/stub_device/stub_device.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

/// baseline, its control, tma, dsm; at iso. Of so many rounds; 0: as many as are needed.
PlannedGroup plan_of(int rounds = 0) {
  PlannedGroup plan;
  plan.key = {"stub", Parameters(find_app("stub")->parameters(), {}), CacheMode::cold,
              LaunchMode::stream};
  plan.rows = {{"stub/baseline", Role::iso, 0, "iso"},
               {"stub/baseline", Role::iso, 1, "iso"},
               {"stub/tma", Role::iso, 0, "iso"},
               {"stub/dsm", Role::iso, 0, "iso"}};
  if (rounds > 0) plan.effort.min_rounds = plan.effort.max_rounds = rounds;
  return plan;
}

using Lines = std::vector<std::pair<int, std::string>>;

/// `script`: what the device does (stub_device.hpp).
GroupResult measured(const PlannedGroup& plan, const Json& script, Lines* lines = nullptr) {
  const auto instrument = make_stub_instrument(script);
  GroupResult group = run_group(plan, *instrument, [lines](int row, const std::string& line) {
    if (lines != nullptr) lines->emplace_back(row, line);
  });
  summarise(group, plan.effort.confidence);
  return group;
}

/// `rows`: the member of that name, as text.
GroupResult with_rows(const PlannedGroup& plan, const std::string& rows) {
  return measured(plan, {{"rows", Json::parse(rows)}});
}

/// A copy that is computed again has the same to say.
void expect_recomputed(const GroupResult& group) {
  ResultFile file;
  file.groups.push_back(group);
  recompute(file);
  EXPECT_EQ(to_json(file.groups[0]), to_json(group));
}

bool warns(const GroupResult& g, const std::string& text) {
  return std::ranges::any_of(g.warnings, [&](const std::string& w) { return contains(w, text); });
}

TEST(GroupLoop, EveryRoundTakesTheRowsInTheOrderOfTheSchedule) {
  const GroupResult g = measured(plan_of(9), Json::object());
  ASSERT_EQ(g.rows.size(), 4u);
  // A fifth place in each round is that of the row that runs twice in it.
  for (int round = 0; round < 9; ++round) {
    std::vector<int> taken(5, -1);
    for (int r = 0; r < 4; ++r) {
      const Row& row = g.rows[static_cast<std::size_t>(r)];
      ASSERT_EQ(row.samples.size(), 9u);
      for (const std::vector<Sample>* samples : {&row.samples, &row.repeat_samples}) {
        for (const Sample& s : *samples) {
          if (s.round == round) taken.at(static_cast<std::size_t>(s.position)) = r;
        }
      }
    }
    const std::vector<int> order = round_order(5, round);
    for (std::size_t position = 0; position < order.size(); ++position) {
      if (order[position] < 4) {
        EXPECT_EQ(taken[position], order[position]) << round;
      } else {
        EXPECT_GE(taken[position], 2) << "a baseline has its control, round " << round;
      }
    }
  }
}

TEST(GroupLoop, RowsTakeTurnsToRunTwiceInARound) {
  const GroupResult g = measured(plan_of(40), Json::object());
  EXPECT_EQ(g.rows[0].repeat_samples.size() + g.rows[1].repeat_samples.size(), 0u);
  for (const std::size_t r : {2u, 3u}) {  // two rows at one place a round
    EXPECT_EQ(g.rows[r].samples.size(), 40u);
    EXPECT_NEAR(static_cast<double>(g.rows[r].repeat_samples.size()), 20, 4);
    std::set<int> positions;
    for (const Sample& s : g.rows[r].repeat_samples) positions.insert(s.position);
    EXPECT_GE(positions.size(), 3u) << "not always at the same place of the order";
  }
}

TEST(GroupLoop, AThrottledSampleIsRepeatedThreeTimesAtMost) {
  // Two throttled attempts, then a good one; the lists are by attempt.
  const GroupResult g = with_rows(
      plan_of(6), R"({"stub/tma": {"throttled": [true, true, false], "times": [9, 9, 0.5]}})");
  ASSERT_EQ(g.rows[2].samples.size(), 6u);
  for (const Sample& s : g.rows[2].samples) {
    EXPECT_FALSE(s.throttled);
    EXPECT_EQ(s.time_ms, 0.5);
  }
  EXPECT_TRUE(warns(g, "12 samples were throttled (stub power cap)"));
  // One good attempt in five: four are taken, so every fourth round or so stays throttled.
  const GroupResult worse = with_rows(plan_of(6), R"({"stub/tma": {
      "throttled": [true, true, true, true, false], "times": [9, 9, 9, 8, 0.5]}})");
  EXPECT_TRUE(worse.rows[2].samples[0].throttled);
  EXPECT_EQ(worse.rows[2].samples[0].time_ms, 8);  // the last attempt
  EXPECT_FALSE(worse.rows[2].samples[1].throttled);
  EXPECT_EQ(worse.rows[2].samples[1].time_ms, 0.5);
  EXPECT_LT(worse.rows[2].time_ms->median, 1);
}

TEST(GroupLoop, ARowThatIsMostlyThrottledCountsAsItIs) {
  std::vector<bool> attempts(80, true);
  attempts[1] = false;  // the second attempt of the first round, and nothing after it
  std::vector<double> times(80, 0.5);
  times[1] = 0.25;
  // In one round of fifteen the baseline stays throttled: its side of the ratio counts as well.
  std::vector<bool> of_baseline(18, false);
  std::fill_n(of_baseline.begin(), 4, true);
  const GroupResult g =
      measured(plan_of(15), {{"rows",
                              {{"stub/tma", {{"throttled", attempts}, {"times", times}}},
                               {"stub/baseline", {{"throttled", of_baseline}}}}}});
  for (const Row& row : g.rows) {
    for (const Sample& s : row.samples) EXPECT_FALSE(s.throttled);
    for (const Sample& s : row.repeat_samples) EXPECT_FALSE(s.throttled);
  }
  EXPECT_EQ(g.rows[0].time_ms->n, 15);
  EXPECT_EQ(g.rows[2].time_ms->n, 15);
  EXPECT_EQ(g.rows[2].time_ms->median, 0.5);  // not that of the seldom state
  const auto of_tma = std::ranges::find(g.comparisons, "stub/tma", &Comparison::variant);
  ASSERT_NE(of_tma, g.comparisons.end());
  EXPECT_DOUBLE_EQ(of_tma->speedup.ratio, 2);
  EXPECT_TRUE(warns(g, "stub/tma iso ran throttled in most rounds (14 of 15)"));
  const GroupResult always =
      with_rows(plan_of(15), R"({"stub/tma": {"throttled": [true], "ms": 0.5}})");
  EXPECT_EQ(always.rows[2].time_ms->median, 0.5);
  // Four attempts each of three samples and of the second run in those rounds; then one each.
  EXPECT_TRUE(warns(always, "16 samples were throttled"));
}

TEST(GroupLoop, AClockThatDropsCountsAsThrottled) {
  const GroupResult g =
      with_rows(plan_of(3),
                R"({"stub/tma": {"clock_mhz": [1980, 1783, 1781, 1980], "times": [1, 2, 3, 4]}})");
  // 1783 is above nine tenths of 1980, 1781 is not.
  ASSERT_EQ(g.rows[2].samples.size(), 3u);
  EXPECT_EQ(g.rows[2].samples[1].time_ms, 2);
  EXPECT_EQ(g.rows[2].samples[2].time_ms, 4);
  EXPECT_EQ(g.rows[2].samples[2].sm_clock_mhz, 1980.0);
  EXPECT_TRUE(warns(g, "1 samples were throttled"));
}

TEST(GroupLoop, StopsWhenPreciseOrAtALimit) {
  PlannedGroup plan = plan_of();
  GroupResult g = with_rows(plan, R"({"stub/tma": {"noise": 0.001}})");
  EXPECT_EQ(g.stop_reason, StopReason::narrow_enough);
  EXPECT_EQ(g.rounds, plan.effort.min_rounds);
  plan.effort.max_rounds = 20;
  g = with_rows(plan, R"({"stub/tma": {"noise": 0.3}})");
  EXPECT_EQ(g.stop_reason, StopReason::round_limit);
  EXPECT_EQ(g.rounds, 20);
  plan.effort.max_rounds = 100000;
  plan.effort.seconds = 0.05;
  g = with_rows(plan, R"({"stub/tma": {"noise": 0.3, "sleep_s": 0.02}})");
  EXPECT_EQ(g.stop_reason, StopReason::time_limit);
  EXPECT_LT(g.rounds, plan.effort.min_rounds);

  plan = plan_of();  // candidates are each precise by themselves, and none runs twice in a round
  plan.rows = {{"stub/tma", Role::candidate, 0, "iso"}, {"stub/tma", Role::candidate, 0, "wide"}};
  plan.effort.min_rounds = 7;
  plan.effort.max_rounds = 30;
  g = measured(plan, Json::object());
  EXPECT_EQ(g.stop_reason, StopReason::narrow_enough);
  EXPECT_EQ(g.rounds, 7);
  EXPECT_TRUE(g.comparisons.empty() && g.rows[0].repeat_samples.empty());
  EXPECT_EQ(with_rows(plan, R"({"stub/tma": {"noise": 0.3}})").stop_reason,
            StopReason::round_limit);
}

TEST(GroupLoop, ATimeThatIsNoneFailsItsRowAndNoOther) {
  // The GPU's clock went back during the fifth to eighth run, and during every try at the fifth.
  const GroupResult g = with_rows(plan_of(12), R"({
      "stub/tma": {"times": [1, 1, 1, 1, -0.5, -0.5, 0, -0.5, 1]},
      "stub/dsm": {"times": [1, -0.5, 1]}})");
  EXPECT_EQ(g.rows[2].status, RowStatus::failed);
  EXPECT_TRUE(contains(g.rows[2].reason, "4 times in a row: it jumped"));
  EXPECT_TRUE(g.rows[2].samples.empty());
  EXPECT_EQ(g.rows[3].samples.size(), 12u);  // once is no more than a second try
  EXPECT_EQ(g.comparisons.size(), 2u);
}

TEST(GroupLoop, ProbesTheDeviceBetweenSamples) {
  PlannedGroup plan = plan_of();
  const Json script =
      Json::parse(R"({"probe": {"wait_us": [0, 2, 60]}, "state_after": {"temperature_c": "50"}})");
  const GroupResult g = measured(plan, script);
  // Behind each sample and, two each, behind each verification, while there is time for them.
  // 15 rounds of four rows, of which one runs twice.
  ASSERT_GE(g.probe.size(), 75u);
  EXPECT_LE(g.probe.size(), 75u + 2 * 4 * 2);
  EXPECT_EQ(g.probe.front().round, -1);
  EXPECT_EQ(g.probe.back().round, g.rounds - 1);
  EXPECT_TRUE(std::ranges::is_sorted(g.probe, {}, &ProbeReading::round));
  EXPECT_NEAR(g.probe[0].wait_us, 9, 0.5);  // as the stub has it without interference
  EXPECT_NEAR(g.probe[2].wait_us, 69, 0.5);
  EXPECT_EQ(g.device_state.at("temperature_c"), "50");
  plan.effort.verify_only = true;
  const GroupResult verified = measured(plan, script);
  EXPECT_TRUE(verified.probe.empty() && verified.device_state.empty());
}

TEST(GroupLoop, ProbesTakeLittleOfTheTime) {
  // Probes of 1 ms: as many as 1.5 % of the time of the group and of the process's start allow.
  const GroupResult g = measured(plan_of(15), Json::parse(R"({"probe": {"wait_us": [975]},
                                   "rows": {"stub/baseline": {"sleep_s": 0.005}}})"));
  EXPECT_GE(g.probe.size(), 5u);
  EXPECT_LE(static_cast<double>(g.probe.size()) - 1, 0.015 * (g.wall_s + 0.3) / 0.001);
}

TEST(GroupLoop, SeveralThatGoWrongTogetherMayHaveBeenWrittenTo) {
  const std::string said = "2 variants were right before timing and wrong after";
  EXPECT_FALSE(warns(with_rows(plan_of(), R"({"stub/tma": {"wrong_after": true}})"), said));
  EXPECT_TRUE(warns(with_rows(plan_of(), R"({"stub/tma": {"wrong_after": true},
                                             "stub/dsm": {"wrong_after": true}})"),
                    said));
}

TEST(GroupLoop, WhatDoesNothingIsTriedOnceBehindTheFirstRightRow) {
  const TemporaryFolder folder;
  const std::string log = (folder.path() / "log").string();
  measured(plan_of(), {{"log", log}, {"rows", {{"stub/baseline", {{"wrong", true}}}}}});
  const std::string lines = read_text(log), tried = "\nnothing\n";
  ASSERT_NE(lines.find(tried), std::string::npos);
  EXPECT_EQ(lines.find(tried), lines.rfind(tried));
}

TEST(RunIsolated, AnAnswerThatIsNoResultCostsItsGroup) {
  bool stopped = false;
  const GroupResult g = run_isolated(
      plan_of(), {},
      [](const Json&, double) {
        ChildOutcome outcome;
        outcome.finished = true;
        outcome.result = 3;
        return outcome;
      },
      [](const std::string&) {}, stopped);
  ASSERT_EQ(g.rows.size(), 4u);
  for (const Row& row : g.rows) EXPECT_EQ(row.status, RowStatus::crashed);
  EXPECT_TRUE(contains(g.rows[0].reason, "the process answered what is no result"));
}

TEST(GroupLoop, ARowThatCannotRunLeavesTheOthers) {
  PlannedGroup plan = plan_of();
  plan.rows[0].excluded = "it crashed";
  plan.rows.push_back({"stub/nothing", Role::iso, 0, "iso"});
  plan.rows.push_back({"stub/tma", Role::best, 0, "iso"});
  const GroupResult g = with_rows(plan, R"({
      "stub/tma iso": {"skipped": "needs another device"},
      "stub/tma best": {"elsewhere": "it works elsewhere"},
      "stub/dsm": {"fault": {"do": "no_memory"}},
      "stub/baseline iso first": {"fault": {"do": "break"}}})");
  const std::pair<RowStatus, const char*> expected[] = {
      {RowStatus::crashed, "it crashed"},
      {RowStatus::ok, ""},
      {RowStatus::skipped, "needs another device"},
      {RowStatus::skipped, "out of device memory"},
      {RowStatus::skipped, "not part of this program"},
      {RowStatus::failed, "it works elsewhere"}};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(g.rows[i].status, expected[i].first) << i;
    EXPECT_TRUE(contains(g.rows[i].reason, expected[i].second)) << g.rows[i].reason;
  }
  EXPECT_TRUE(g.comparisons.empty());
  // Whatever else goes wrong ends the group: the caller has a process of its own for it.
  EXPECT_THROW(with_rows(plan_of(), R"({"stub/tma": {"fault": {"do": "break"}}})"),
               std::runtime_error);
}

TEST(GroupLoop, ARunTooLongForTheQueueIsSaid) {
  EXPECT_TRUE(measured(plan_of(), Json::object()).launch_blocked);
  EXPECT_FALSE(with_rows(plan_of(), R"({"stub/dsm": {"blocked": false}})").launch_blocked);
}

/// Baseline is best with "wide", tma with "tall", dsm with "tall" too when asked.
PlannedGroup matched_plan(bool with_dsm = false) {
  PlannedGroup plan = plan_of();
  plan.key.app = "crossed";
  plan.key.size = Parameters(find_app("crossed")->parameters(), {});
  plan.rows = {{"crossed/baseline", Role::best, 0, "wide"},
               {"crossed/baseline", Role::best, 1, "wide"},
               {"crossed/tma", Role::best, 0, "tall"}};
  if (with_dsm) plan.rows.push_back({"crossed/dsm", Role::best, 0, "tall"});
  const auto match = [&](const std::string& variant, const char* other) {
    PlannedRow row{variant, Role::matched};
    row.matches = other;
    row.by_schedule = {{"tall", variant == "crossed/baseline" ? "tall/ahead" : "tall", "tuned"}};
    plan.rows.push_back(row);
  };
  match("crossed/baseline", "crossed/tma");
  if (with_dsm) match("crossed/baseline", "crossed/dsm");
  match("crossed/tma", "crossed/baseline");
  if (with_dsm) match("crossed/dsm", "crossed/baseline");
  return plan;
}

const Json matched_times = Json::parse(R"({"rows": {
    "crossed/baseline at wide": {"ms": 2}, "crossed/baseline at tall/ahead": {"ms": 1.6},
    "crossed/tma at tall": {"ms": 1}, "crossed/tma at wide": {"ms": 1.9},
    "crossed/dsm at tall": {"ms": 3.2}}})");

TEST(GroupLoop, AGainIsDividedIntoThatOfTheScheduleAndThatOfMovement) {
  const GroupResult g = measured(matched_plan(), matched_times);
  ASSERT_EQ(g.rows.size(), 5u);
  EXPECT_EQ(g.rows[3].variant, "crossed/baseline");
  EXPECT_EQ(g.rows[3].role, Role::matched);
  EXPECT_EQ(g.rows[3].schedule, "tall");
  EXPECT_EQ(g.rows[3].config, "tall/ahead");  // the best movement known of that schedule
  EXPECT_EQ(g.rows[3].config_source, "tuned");
  EXPECT_EQ(g.rows[4].schedule, "wide");
  EXPECT_EQ(g.rows[4].config_source, "built-in default");
  const std::vector<Gain> gains = gains_of(g);
  ASSERT_EQ(gains.size(), 1u);
  const Gain& gain = gains[0];
  EXPECT_EQ(gain.variant, "crossed/tma");
  EXPECT_EQ(gain.schedule, "tall");
  EXPECT_EQ(gain.baseline_schedule, "wide");
  EXPECT_DOUBLE_EQ(gain.total->speedup.ratio, 2);
  ASSERT_NE(gain.by_schedule, nullptr);
  EXPECT_NEAR(gain.by_schedule->speedup.ratio, 1.25, 1e-6);
  EXPECT_NEAR(gain.by_movement->speedup.ratio, 1.6, 1e-6);
  ASSERT_NE(gain.at_baseline_schedule, nullptr);
  EXPECT_NEAR(gain.at_baseline_schedule->speedup.ratio, 2 / 1.9, 1e-6);
  // The control, the total, its two parts, and tma with baseline's schedule.
  EXPECT_EQ(g.comparisons.size(), 5u);
  expect_recomputed(g);
}

TEST(GroupLoop, RowsThatWouldRepeatOthersFallAway) {
  // dsm is best with tma's schedule: one matched baseline serves both. It declines baseline's.
  Lines lines;
  const GroupResult both = measured(matched_plan(true), matched_times, &lines);
  ASSERT_EQ(both.rows.size(), 7u);
  EXPECT_EQ(both.rows[6].variant, "crossed/dsm");
  EXPECT_EQ(both.rows[6].status, RowStatus::skipped);
  EXPECT_EQ(both.rows[6].schedule, "wide");
  EXPECT_EQ(both.rows[6].reason, "its neighbours are too far apart for a cluster");
  const std::vector<Gain> gains = gains_of(both);
  ASSERT_EQ(gains.size(), 2u);
  EXPECT_EQ(gains[1].variant, "crossed/dsm");
  EXPECT_NEAR(gains[1].by_movement->speedup.ratio, 0.5, 1e-6);
  EXPECT_EQ(gains[1].at_baseline_schedule, nullptr);
  // A child reports the place in its plan, which has one row more.
  EXPECT_EQ(std::ranges::max_element(lines)->first, 7);

  // With the baseline's own schedule nothing is to be divided: all of the gain is movement.
  PlannedGroup same = matched_plan();
  same.rows[2].config = "wide";
  const GroupResult g = measured(same, matched_times);
  EXPECT_EQ(g.rows.size(), 3u);
  ASSERT_EQ(gains_of(g).size(), 1u);
  EXPECT_EQ(gains_of(g)[0].by_schedule, nullptr);
  EXPECT_EQ(gains_of(g)[0].by_movement, gains_of(g)[0].total);

  Json script = matched_times;  // nothing is matched to what did not run
  script["rows"]["crossed/tma at tall"]["wrong"] = true;
  EXPECT_EQ(measured(matched_plan(), script).rows.size(), 3u);
}

TEST(GroupLoop, ASpellingIsHeldAgainstItsStrategyInTheConfigOfTheSameName) {
  const auto spelled = [](const char* best_config, bool wrong) {
    PlannedGroup plan = matched_plan();
    plan.rows.resize(3);  // baseline, its control, tma
    plan.rows[2].config = best_config;
    const PlannedRow spelling{"crossed/cuda_barrier", Role::comparator, 0, "wide", "tuned"};
    plan.rows.insert(plan.rows.begin() + 2, spelling);  // the plan's order is not needed
    PlannedRow counterpart{"crossed/tma", Role::counterpart};
    counterpart.matches = "crossed/cuda_barrier";
    plan.rows.push_back(counterpart);
    Json script = Json::parse(R"({"rows": {
        "crossed/baseline at wide": {"ms": 2}, "crossed/cuda_barrier at wide": {"ms": 1.6},
        "crossed/tma at tall": {"ms": 1}, "crossed/tma at wide": {"ms": 1.2}}})");
    script["rows"]["crossed/cuda_barrier at wide"]["wrong"] = wrong;
    return measured(plan, script);
  };
  const auto cost_in = [](const GroupResult& g) -> const Comparison* {
    const auto found = std::ranges::find(g.comparisons, Role::counterpart, &Comparison::role);
    return found == g.comparisons.end() ? nullptr : &*found;
  };
  const GroupResult g = spelled("tall", false);
  ASSERT_EQ(g.rows.size(), 5u);
  EXPECT_EQ(g.rows[2].spells, "tma");
  EXPECT_EQ(g.rows[3].spells, "");
  EXPECT_EQ(g.rows[4].role, Role::counterpart);
  EXPECT_EQ(g.rows[4].config, "wide");
  EXPECT_EQ(g.rows[4].config_source, "that of crossed/cuda_barrier");
  ASSERT_NE(cost_in(g), nullptr);
  EXPECT_EQ(cost_in(g)->variant, "crossed/cuda_barrier");
  EXPECT_EQ(cost_in(g)->against, "crossed/tma");
  EXPECT_NEAR(cost_in(g)->speedup.ratio, 1.2 / 1.6, 1e-6);
  EXPECT_EQ(cost_in(g)->claim, SpeedClaim::slower);
  expect_recomputed(g);
  // One that is there already is not run twice.
  const GroupResult there = spelled("wide", false);
  ASSERT_EQ(there.rows.size(), 4u);
  EXPECT_NEAR(cost_in(there)->speedup.ratio, 1.2 / 1.6, 1e-6);
  // Without the comparator's row there is nothing to stand beside.
  const GroupResult wrong = spelled("tall", true);
  EXPECT_EQ(wrong.rows.size(), 4u);
  EXPECT_EQ(cost_in(wrong), nullptr);
}

TEST(MicrobenchmarkLoop, APointBeyondTheDeviceIsSkipped) {
  Point point;
  point.runs_from = 100;
  const MicrobenchmarkRow row = row_of(point, make_stub_instrument({})->device());
  EXPECT_EQ(row.status, RowStatus::skipped);
  EXPECT_EQ(row.reason, "needs compute capability 10.0, this is 9.0");
}

}  // namespace
}  // namespace amasia
