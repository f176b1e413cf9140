#include "harness/session/validity.hpp"
#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/results/envelope.hpp"
#include "harness/results/profile.hpp"
#include "harness/session/session.hpp"
#include "tests/sample_results.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

Device h200() {
  Device d = sample_provenance().device;
  d.memory_bus_bits = 6016;
  return d;
}

const std::string recorded = std::string(AMASIA_SOURCE_DIR) + "/results/h200";

Ceiling ceiling(const std::string& name, double value) {
  return {name, "GB/s", "", {value}, value};
}

TEST(Ceilings, WhatHeatsIsMeasuredLast) {
  std::vector<CeilingProbe> probes;
  for (const char* name : {"bf16_rate", "copy_bandwidth", "e4m3_rate", "fp32_rate", "int32_rate",
                           "tf32_rate", "write_bandwidth"}) {
    CeilingProbe probe;
    probe.name = name;
    probes.push_back(probe);
  }
  std::vector<std::string> order;
  for (const CeilingProbe& probe : in_measuring_order(probes)) order.push_back(probe.name);
  EXPECT_EQ(order,
            (std::vector<std::string>{"copy_bandwidth", "fp32_rate", "int32_rate",
                                      "write_bandwidth", "bf16_rate", "tf32_rate", "e4m3_rate"}));
}

TEST(Ceilings, OutOfLineWithEarlierRunsAreDoubted) {
  const std::vector<CeilingRecord> records{{"copy_bandwidth", {4240, 4250, 4260}},
                                           {"fp32_rate", {60000, 65000, 70000}},
                                           {"write_bandwidth", {4700, 4700}}};
  const auto doubted = [&](const std::string& name, double value) {
    return !doubtful_ceilings({ceiling(name, value)}, h200(), records).empty();
  };
  EXPECT_FALSE(doubted("copy_bandwidth", 4250 * 1.059));  // 6 % at least
  EXPECT_TRUE(doubted("copy_bandwidth", 4250 * 0.939));
  EXPECT_FALSE(doubted("fp32_rate", 65000 * 0.78));  // three times as far as the farthest
  EXPECT_TRUE(doubted("fp32_rate", 65000 * 0.76));
  EXPECT_FALSE(doubted("write_bandwidth", 100));  // two runs say nothing
  EXPECT_FALSE(doubted("read_bandwidth", 100));
}

TEST(Ceilings, OfEveryRecordedRunAreBelieved) {
  const auto records = read_ceiling_records(recorded, h200());
  const auto copies = std::ranges::find(records, "copy_bandwidth", &CeilingRecord::name);
  ASSERT_NE(copies, records.end());
  ASSERT_GE(copies->values.size(), 12u);
  // Each against the others: a run must not vouch for itself.
  std::size_t held = 0;
  for (const CeilingRecord& record : records) {
    for (std::size_t i = 0; i < record.values.size(); ++i) {
      CeilingRecord others = record;
      others.values.erase(others.values.begin() + static_cast<std::ptrdiff_t>(i));
      const auto doubts =
          doubtful_ceilings({ceiling(record.name, record.values[i])}, h200(), {others});
      EXPECT_TRUE(doubts.empty()) << doubts[0].reason;
      ++held;
    }
  }
  EXPECT_GE(held, 150u);  // so many at least are recorded: a reader that finds few holds nothing
  // What was measured beside a process that multiplied matrices all the while.
  EXPECT_FALSE(doubtful_ceilings({ceiling("copy_bandwidth", 1610)}, h200(), records).empty());
}

/// Of a result file, whose groups are never read.
std::string beginning(const std::string& mig, double value) {
  ResultFile file;
  file.provenance.device = h200();
  file.provenance.device_state = {{"mig", mig}};
  file.ceilings = {ceiling("copy_bandwidth", value)};
  const std::string text = to_text(file);
  return text.substr(0, text.find("\"groups\"")) + "this is never read";
}

TEST(Records, PassOverWhatIsNoResult) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    write_packed_file(folder / name, text);
  };
  write("good.json.gz", beginning("off", 4250.5));
  write("slice.json", beginning("on", 700));
  write("wrong.json", beginning("off", -3));
  write("text.json", "hello");
  write("deep.json", std::string(100, '['));
  write("tuning.json", R"({"schema": "amasia-tuning"})");
  write("empty.json", "");
  const auto records = read_ceiling_records(folder.path().string(), h200());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].name, "copy_bandwidth");
  EXPECT_EQ(records[0].values, std::vector<double>{4250.5});
  Device other = h200();
  other.sm_count = 60;  // a slice
  EXPECT_TRUE(read_ceiling_records(folder.path().string(), other).empty());
  other = h200();
  other.name = "NVIDIA H100 80GB HBM3";
  EXPECT_TRUE(read_ceiling_records(folder.path().string(), other).empty());
  EXPECT_TRUE(read_ceiling_records("/nowhere/at/all", h200()).empty());
}

/// Multiplies the times of a row, from the first round to the last, by factors from 1 to `last`.
void bend(Row& row, double last) {
  const double rounds = static_cast<double>(row.samples.size() - 1);
  for (Sample& s : row.samples) s.time_ms *= static_cast<float>(1 + (last - 1) * s.round / rounds);
}

TEST(Floor, ThatIsBeatenColdIsNone) {
  GroupResult group = sample_group(512);
  EXPECT_FALSE(faster_than_floor(group));
  const Row& tma = group.rows[2];
  group.floor = Floor{(tma.time_ms->low + tma.time_ms->high) / 2, 0, 0};
  for (Row& row : group.rows) {
    if (row.role == Role::best) row.time_ms.reset();
  }
  EXPECT_FALSE(faster_than_floor(group)) << "within the interval";
  group.floor = Floor{tma.time_ms->high * 1.001, 0, 0};
  const auto invalid = faster_than_floor(group);
  ASSERT_TRUE(invalid);
  EXPECT_EQ(invalid->kind, InvalidKind::floor);
  group.key.cache = CacheMode::hot;  // what is in the cache need not come from memory
  EXPECT_FALSE(faster_than_floor(group));
}

/// A group of 40 rounds whose samples scatter by 0.4 %.
GroupResult long_group() {
  GroupResult group = sample_group(512);
  for (Row& row : group.rows) {
    const std::vector<Sample> nine(row.samples.begin(), row.samples.begin() + 9);
    row.samples.clear();
    for (int round = 0; round < 40; ++round) {
      Sample s = nine[static_cast<std::size_t>(round * 2 % 9)];
      s.round = round;
      row.samples.push_back(s);
    }
  }
  group.rounds = 40;
  recompute(group, 0.95);
  return group;
}

TEST(Work, ThatContradictsItselfIsNone) {
  EXPECT_EQ(contradiction_in({1e9, Work::Kind::fp32, 4096, 4096, 10}, 4096), "");
  EXPECT_EQ(contradiction_in({}, 0), "");
  const std::string more = contradiction_in({0, Work::Kind::fp32, 4097, 0, 0}, 4096);
  EXPECT_TRUE(contains(more,
                       "work() says bytes_read = 4097, and device_bytes() that all its memory "
                       "is 4096"));
  EXPECT_TRUE(contains(contradiction_in({0, Work::Kind::fp32, 0, 1e12, 0}, 4096), "bytes_written"));
  EXPECT_TRUE(contains(contradiction_in({-1, Work::Kind::fp32, 0, 0, 0}, 0), "operations = -1"));
  EXPECT_TRUE(contains(contradiction_in({0, Work::Kind::fp32, std::nan(""), 0, 0}, 1), "nan"));
}

TEST(Drift, OfTheBaselineOverTheRoundsIsSeen) {
  for (const double last : {1.15, 0.87}) {
    GroupResult group = long_group();
    for (Row& row : group.rows) bend(row, last);  // all alike, so that no ratio shows it
    recompute(group, 0.95);
    const auto invalid = drift_in(group);
    ASSERT_TRUE(invalid) << last;
    EXPECT_TRUE(contains(invalid->reason, last > 1 ? "rose by" : "fell by")) << invalid->reason;
    EXPECT_TRUE(contains(invalid->reason, "rank correlation"));
  }
  GroupResult group = long_group();
  for (Row& row : group.rows) bend(row, 1.02);  // sure, but small
  recompute(group, 0.95);
  EXPECT_FALSE(drift_in(group));
  group = long_group();
  for (Sample& s : group.rows[0].samples) s.time_ms *= s.round % 2 == 0 ? 1.2F : 1;  // no order
  recompute(group, 0.95);
  group.comparisons.clear();
  EXPECT_FALSE(drift_in(group));
}

using State = std::map<std::string, std::string>;

TEST(DeviceState, IsHeldAgainstTheRunsStart) {
  const State start{{"power_limit_w", "700.0"}, {"memory_clock_mhz", "3201"},
                    {"temperature_c", "30"},    {"slowdown_c", "87"},
                    {"throttle_reasons", ""},   {"sm_clock_mhz", "345"}};
  const auto with = [&](const std::string& key, const std::string& value) {
    State state = start;
    state[key] = value;
    return changed_state(start, state);
  };
  EXPECT_FALSE(changed_state(start, start));
  EXPECT_FALSE(changed_state({}, start)) << "what is not known says nothing";
  EXPECT_FALSE(changed_state(start, {}));
  EXPECT_FALSE(with("temperature_c", "71"));  // a load warms it
  EXPECT_FALSE(with("sm_clock_mhz", "1980"));
  EXPECT_FALSE(with("throttle_reasons", "software power cap"));  // one's own load does that
  EXPECT_FALSE(with("memory_clock_mhz", "3200"));
  EXPECT_TRUE(contains(with("power_limit_w", "500.0")->reason,
                       "the power limit was 700 W at the run's start and is 500 W now"));
  EXPECT_TRUE(contains(with("memory_clock_mhz", "3100")->reason, "3100 MHz"));
  EXPECT_TRUE(
      contains(with("throttle_reasons", "software power cap, hardware thermal slowdown")->reason,
               "hardware thermal slowdown"));
  EXPECT_TRUE(with("throttle_reasons", "hardware power brake"));
  EXPECT_TRUE(contains(with("temperature_c", "86")->reason, "86 degrees Celsius"));
  EXPECT_FALSE(with("temperature_c", "85"));
  for (const char* key : {"power_limit_w", "memory_clock_mhz", "temperature_c"}) {
    const auto invalid = with(key, key == std::string("temperature_c") ? "90" : "100");
    ASSERT_TRUE(invalid);
    EXPECT_EQ(invalid->kind, InvalidKind::device_state);
    EXPECT_FALSE(invalid->remedy.empty());
  }
}

TEST(Invalidities, AreAllNamedAndTakeTheClaims) {
  GroupResult group = sample_group(512);
  ASSERT_EQ(group.comparisons[1].claim, SpeedClaim::faster);
  Circumstances around;
  EXPECT_TRUE(invalidities_of(group, around).empty());
  around.ceilings = {{{InvalidKind::ceiling, "too high", "measure again"}, "read_bandwidth"}};
  around.state_at_start = {{"power_limit_w", "700"}};
  group.device_state = {{"power_limit_w", "600"}, {"company", "1 other process"}};
  const auto invalid = invalidities_of(group, around);
  std::vector<InvalidKind> kinds;
  for (const Invalidity& i : invalid) kinds.push_back(i.kind);
  EXPECT_EQ(kinds, (std::vector{InvalidKind::ceiling, InvalidKind::interference,
                                InvalidKind::device_state}));
  mark(group, invalid);
  for (const Comparison& c : group.comparisons) EXPECT_EQ(c.claim, SpeedClaim::invalid);
  EXPECT_EQ(group.comparisons[1].verdict, SpeedVerdict::faster);  // what the samples say stays
  recompute(group, 0.95);
  EXPECT_EQ(group.comparisons[1].claim, SpeedClaim::invalid);
  mark(group, {});
  EXPECT_EQ(group.comparisons[1].claim, SpeedClaim::faster);
  EXPECT_EQ(to_string(around.ceilings[0]), "ceiling: too high; measure again");
}

TEST(Invalidities, OfARateOfTheTensorCoresAreThoseOfTheWorkItBounds) {
  GroupResult group = sample_group(512);
  Circumstances around;
  for (const char* name : {"tf32_rate", "e4m3_rate", "fp32_rate"}) {
    around.ceilings.push_back({{InvalidKind::ceiling, name, "measure again"}, name});
  }
  const auto named = [&](Work::Kind kind) {
    group.work.kind = kind;
    std::vector<std::string> names;
    for (const Invalidity& i : invalidities_of(group, around)) names.push_back(i.reason);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(named(Work::Kind::int32), (Names{"fp32_rate"}));  // says that the GPU was slow
  EXPECT_EQ(named(Work::Kind::bf16), (Names{"fp32_rate"}));
  EXPECT_EQ(named(Work::Kind::tf32), (Names{"tf32_rate", "fp32_rate"}));
}

/// Whether two documents are the same but for the last bits of their numbers.
bool same_but_for_rounding(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b) {
  if (a.is_number() && b.is_number()) {
    const double x = a.get<double>(), y = b.get<double>();
    return std::abs(x - y) <= 1e-9 * std::max(std::abs(x), std::abs(y));
  }
  if (!a.is_structured() || a.type() != b.type() || a.size() != b.size()) return a == b;
  return std::equal(a.begin(), a.end(), b.begin(), same_but_for_rounding);
}

/// Every recorded file is read; those of the current code have what their samples say. On a quiet
/// GPU nothing is invalid.
TEST(RecordedFiles, SayWhatTheirSamplesSayAndAreValid) {
  const std::string results = std::string(AMASIA_SOURCE_DIR) + "/results";
  int groups = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(results)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".json.gz")) continue;
    SCOPED_TRACE(path);
    if (contains(path, "/profile-")) {
      EXPECT_NO_THROW(read_profile_file(path));
      continue;
    }
    ResultFile file;
    ASSERT_NO_THROW(file = read_result_file(path));
    if (!contains(path, "/results/h200/")) continue;
    nlohmann::ordered_json stored =
        unsealed(read_packed_file(path), path, result_schema_name, result_schema_version);
    for (const char* const envelope : {"schema", "version", "digest"}) stored.erase(envelope);
    EXPECT_TRUE(same_but_for_rounding(to_json(file), stored));
    Circumstances around;
    around.state_at_start = file.provenance.device_state;
    for (const GroupResult& group : file.groups) {
      for (const Invalidity& i : invalidities_of(group, around)) {
        ADD_FAILURE() << group.key.to_string() << " " << to_string(i);
      }
      ++groups;
    }
  }
  EXPECT_GE(groups, 50);
}

constexpr double host_ahead_us = -1.7e15;  // the GPU's clock counts from 1970, the host's from boot

/// Probes every 3 ms or so on a GPU that is busy for `load` of each period, as the clocks of host
/// and GPU would see them. Launches take 4 to 9 us to start; the host is busy elsewhere now and
/// then.
std::vector<std::pair<int, ProbeTimes>> probes_beside(double load, double period_us, int count,
                                                      unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double phase = uniform(random) * period_us;
  std::vector<std::pair<int, ProbeTimes>> probes;
  double now = 5e9;
  for (int i = 0; i < count; ++i) {
    now += 2000 + 2000 * uniform(random);
    ProbeTimes p;
    p.launched_us = now;
    if (uniform(random) < 0.02) p.launched_us += 3000;  // preempted behind the launch
    double begin = now + 4 + 5 * uniform(random);
    const double in_period = std::fmod(begin + phase, period_us);
    if (in_period < load * period_us) begin += load * period_us - in_period;
    const double end = begin + 16;
    p.done_us = end + 3 + 4 * uniform(random);
    if (uniform(random) < 0.02) p.done_us += 5000;  // preempted before it sees the end
    // The two clocks drift apart by 30 parts in a million.
    p.began_us = begin - host_ahead_us + 30e-6 * (begin - 5e9);
    p.ended_us = end - host_ahead_us + 30e-6 * (end - 5e9);
    p.arithmetic_cycles = 8000 * (1 + 0.01 * uniform(random));
    p.memory_us = 8 + 3 * uniform(random);
    probes.emplace_back(i / 10, p);
    now = std::max(now, p.done_us);
  }
  return probes;
}

std::optional<Invalidity> judged(const std::vector<std::pair<int, ProbeTimes>>& probes) {
  const std::vector<ProbeReading> readings = readings_of(probes);
  return interference_in(readings, quieter({}, readings), "");
}

TEST(Interference, IsNotSeenWhereThereIsNone) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto invalid = judged(probes_beside(0, 1000, 200, seed));
    EXPECT_FALSE(invalid) << seed << ": " << invalid->reason;
  }
}

TEST(Interference, IsSeenAtFivePercentAndMore) {
  for (const double load : {0.05, 0.2, 1.0}) {
    for (const double period_us : {20e3, 100e3}) {
      int seen = 0;
      for (unsigned seed = 0; seed < 50; ++seed) {
        const auto invalid = judged(probes_beside(load, period_us, 200, seed));
        seen += invalid.has_value();
        if (invalid) {
          EXPECT_EQ(invalid->kind, InvalidKind::interference);
        }
      }
      EXPECT_GE(seen, load == 0.05 ? 47 : 50) << load << " of " << period_us << " us";
    }
  }
}

TEST(Interference, ThatIsAlwaysThereIsSeenBesideAnEarlierGroup) {
  const auto quiet = quieter({}, readings_of(probes_beside(0, 1000, 200, 1)));
  auto probes = probes_beside(0, 1000, 200, 2);
  for (auto& [round, p] : probes) p.arithmetic_cycles *= 2;
  EXPECT_FALSE(judged(probes));  // it has no other measure than itself
  EXPECT_TRUE(interference_in(readings_of(probes), quiet, ""));
  // Nor is interference the reference: the quietest group is.
  const auto still = quieter(quiet, readings_of(probes));
  EXPECT_EQ(still->arithmetic_cycles, quiet->arithmetic_cycles);
}

TEST(Interference, OneProbeInTwoHundredIsChanceUnlessThereWereSuchBefore) {
  auto probes = probes_beside(0, 1000, 200, 4);
  probes[17].second.memory_us *= 5;
  EXPECT_FALSE(judged(probes));
  const auto readings = readings_of(probes);
  const auto quiet = quieter({}, readings);
  EXPECT_FALSE(interference_in(readings, quiet, "", {200, 0}));
  EXPECT_FALSE(interference_in(readings, quiet, "", {20000, 1}));
  const auto invalid = interference_in(readings, quiet, "", {400, 2});
  ASSERT_TRUE(invalid);
  EXPECT_TRUE(contains(invalid->reason, "1 of 200 probes"));
  EXPECT_TRUE(contains(invalid->reason, "2 of 400 in the groups before"));
  // A group without any is not blamed for those before.
  const auto none = readings_of(probes_beside(0, 1000, 200, 5));
  EXPECT_FALSE(interference_in(none, quiet, "", {400, 20}));
}

TEST(Readings, HaveTheWaitByBothClocks) {
  ProbeTimes quick;
  quick.launched_us = 1000, quick.began_us = 501005, quick.ended_us = 501020, quick.done_us = 1024;
  ProbeTimes late = quick;  // 700 us later, and it waited for 400 of them
  late.launched_us = 1700, late.began_us = 502105, late.ended_us = 502120, late.done_us = 2130;
  late.memory_us = 7.06;
  late.arithmetic_cycles = 8000.4;
  const auto readings = readings_of({{0, quick}, {1, late}});
  ASSERT_EQ(readings.size(), 2u);
  // The GPU's clock is 499996 us ahead as the first has it and 499990 as the second.
  EXPECT_DOUBLE_EQ(readings[0].wait_us, 9);
  EXPECT_DOUBLE_EQ(readings[1].wait_us, 409);
  EXPECT_EQ(readings[1].round, 1);
  EXPECT_DOUBLE_EQ(readings[1].memory_us, 7.1);
  EXPECT_DOUBLE_EQ(readings[1].arithmetic_cycles, 8000);
  EXPECT_TRUE(readings_of({}).empty());
}

}  // namespace
}  // namespace amasia
