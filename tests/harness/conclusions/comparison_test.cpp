#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/statistics/statistics.hpp"
#include "harness/text/json_file.hpp"
#include "tests/sample_results.hpp"
#include "tests/test.hpp"

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

TEST(CompareRows, ShareTheConfidence) {
  const Row baseline = row("a/baseline", Role::iso, Times(6, 6.0));
  const Row tma = row("a/tma", Role::iso, Times(6, 2.0));
  // Six pairs reach 96.9 %: enough for one comparison at 95 %, not for two.
  EXPECT_TRUE(compare_rows({baseline, tma}, 0.95)[0].speedup.resolved);
  const auto two = compare_rows({baseline, tma, row("a/dsm", Role::iso, Times(6, 2.0))}, 0.95);
  EXPECT_FALSE(two[0].speedup.resolved);
  EXPECT_FALSE(two[1].speedup.resolved);
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

TEST(Claim, IsNeverSmallerThanTheNoise) {
  const GroupResult group = sample_group(512);
  const auto bypass =
      std::ranges::find(group.comparisons, "hotspot/register_bypass", &Comparison::variant);
  ASSERT_NE(bypass, group.comparisons.end());
  ASSERT_EQ(bypass->verdict, SpeedVerdict::slower);  // resolved by its own interval
  EXPECT_EQ(claim_of(group.comparisons, *bypass), SpeedClaim::within_noise);
  GroupResult quiet = group;
  for (Comparison& c : quiet.comparisons) {
    if (c.control) c.speedup = {1, 1, 1, 0.95, 9, false};
  }
  EXPECT_EQ(claim_of(quiet.comparisons, *bypass), SpeedClaim::slower);
  // The noise of another role says nothing about this one; a comparator has that of best.
  GroupResult other = group;
  std::erase_if(other.comparisons,
                [](const Comparison& c) { return c.control && c.role == Role::best; });
  EXPECT_EQ(claim_of(other.comparisons, *bypass), SpeedClaim::slower);
  Comparison library = *bypass;
  library.role = Role::comparator;
  EXPECT_EQ(claim_of(group.comparisons, library), SpeedClaim::within_noise);
}

TEST(Claim, IsNeverSmallerThanWhatTheBaselineDiffersFromItself) {
  GroupResult group = sample_group(512);
  Comparison& tma = group.comparisons[1];
  const auto with_control = [&](const RatioInterval& of_control, double ratio) {
    for (Comparison& c : group.comparisons) {
      if (c.control) c.speedup = of_control;
    }
    tma.speedup.ratio = ratio;
    return claim_of(group.comparisons, tma);
  };
  const RatioInterval told_apart{1.014, 1.01, 1.02, 0.99, 20, true};
  for (const double smaller : {1.005, 1.015, 0.99, 1.02, 1 / 1.02}) {
    EXPECT_EQ(with_control(told_apart, smaller), SpeedClaim::within_noise) << smaller;
  }
  EXPECT_EQ(with_control(told_apart, 1.021), SpeedClaim::faster);
  const RatioInterval in_reverse{1 / 1.014, 1 / 1.02, 1 / 1.01, 0.99, 20, true};
  EXPECT_EQ(with_control(in_reverse, 1.015), SpeedClaim::within_noise);
  EXPECT_EQ(with_control({1, 0.999, 1.02, 0.99, 20, false}, 0.99), SpeedClaim::faster);
}

TEST(Claim, IsNeverSmallerThanWhatTheRowDiffersFromItself) {
  GroupResult group = sample_group(512);
  Comparison& tma = group.comparisons[1];  // 1.249 times as fast
  tma.itself = {1.3, 1.28, 1.31, 0.99, 20, true};
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::within_noise);
  tma.itself = {1 / 1.3, 1 / 1.31, 1 / 1.28, 0.99, 20, true};  // in whichever order
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::within_noise);
  tma.itself = {1.1, 1.08, 1.12, 0.99, 20, true};
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::faster);
  // Not told from itself: wide for want of rounds, or because it scatters, which its own interval
  // has already.
  tma.itself = {1.02, 0.7, 1.5, 0.99, 20, false};
  EXPECT_EQ(claim_of(group.comparisons, tma), SpeedClaim::faster);
}

Ceiling ceiling(const char* name, double value) { return {name, "", "", {}, value}; }

std::vector<Ceiling> all() {
  return {ceiling("read_bandwidth", 4000), ceiling("write_bandwidth", 5000),
          ceiling("copy_bandwidth", 2000), ceiling("fp32_rate", 60000),
          ceiling("int32_rate", 30000),    ceiling("dependent_op_ns", 2)};
}

std::vector<Ceiling> only(std::initializer_list<const char*> names) {
  std::vector<Ceiling> kept;
  for (const Ceiling& c : all()) {
    for (const char* name : names) {
      if (c.name == name) kept.push_back(c);
    }
  }
  return kept;
}

Work traffic(double read, double written) { return {.bytes_read = read, .bytes_written = written}; }

double bytes_ms(double read, double written) {
  return compute_floor(traffic(read, written), all())->bytes_ms;
}

// At 4000, 5000 and 2000 GB/s (read, write, copy), 4e9 bytes take 1, 0.8 and 2 ms.
TEST(Floor, TrafficIsTimedAsAMixtureOfTheNearestStreams) {
  EXPECT_DOUBLE_EQ(bytes_ms(4e9, 0), 1);
  EXPECT_DOUBLE_EQ(bytes_ms(2e9, 2e9), 2);
  EXPECT_DOUBLE_EQ(bytes_ms(0, 4e9), 0.8);
  EXPECT_DOUBLE_EQ(bytes_ms(3e9, 1e9), 0.5 * 1 + 0.5 * 2);    // a quarter written: half is copy
  EXPECT_DOUBLE_EQ(bytes_ms(1e9, 3e9), 0.5 * 0.8 + 0.5 * 2);  // three quarters written
  EXPECT_FALSE(compute_floor(Work{}, all()));                 // nothing is said of the work
}

TEST(Floor, OperationsUseTheRateOfTheirKindAndAChainItsLatencies) {
  std::vector<Ceiling> ceilings = all();
  const auto floor = [&](double operations, Work::Kind kind, double dependent) {
    return compute_floor(
        {.operations = operations, .kind = kind, .dependent_operations = dependent}, ceilings);
  };
  EXPECT_DOUBLE_EQ(floor(6e10, Work::Kind::fp32, 0)->operations_ms, 1);
  EXPECT_DOUBLE_EQ(floor(6e10, Work::Kind::int32, 0)->operations_ms, 2);
  EXPECT_DOUBLE_EQ(floor(0, Work::Kind::fp32, 1e6)->dependency_ms, 2);
  EXPECT_FALSE(floor(8e11, Work::Kind::bf16, 0)) << "without the ceiling of its tensor cores";
  ceilings.push_back(ceiling("bf16_rate", 800000));
  EXPECT_DOUBLE_EQ(floor(8e11, Work::Kind::bf16, 0)->operations_ms, 1);
  ceilings.push_back(ceiling("tf32_rate", 400000));
  EXPECT_DOUBLE_EQ(floor(4e11, Work::Kind::tf32, 0)->operations_ms, 1);
  EXPECT_DOUBLE_EQ(floor(4e11, Work::Kind::tf32x3, 0)->operations_ms, 3) << "three products";
}

TEST(Floor, OnlyTheCeilingsNeededMustBeThere) {
  EXPECT_TRUE(compute_floor(traffic(1e9, 0), only({"read_bandwidth"})));
  EXPECT_FALSE(compute_floor(traffic(1e9, 0), only({"copy_bandwidth", "write_bandwidth"})));
  EXPECT_TRUE(compute_floor(traffic(1e9, 1e9), only({"copy_bandwidth"})));
  EXPECT_FALSE(compute_floor(traffic(1e9, 1e9), only({"read_bandwidth", "write_bandwidth"})));
  EXPECT_TRUE(compute_floor(traffic(0, 1e9), only({"write_bandwidth"})));
  EXPECT_FALSE(compute_floor(traffic(1e9, 5e8), only({"read_bandwidth"})));

  Work work = traffic(1e9, 0);
  work.operations = 1;
  EXPECT_FALSE(compute_floor(work, only({"read_bandwidth", "int32_rate"})));
  EXPECT_TRUE(compute_floor(work, only({"read_bandwidth", "fp32_rate"})));
  work.dependent_operations = 1;
  EXPECT_FALSE(compute_floor(work, only({"read_bandwidth", "fp32_rate"})));
  EXPECT_TRUE(compute_floor(work, only({"read_bandwidth", "fp32_rate", "dependent_op_ns"})));
}

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
