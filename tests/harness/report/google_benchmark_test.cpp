#include "harness/report/google_benchmark.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include <nlohmann/json.hpp>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

TEST(GoogleBenchmark, IsTheRecordedOne) {
  expect_golden("google_benchmark.json", to_google_benchmark(sample_results()));
}

TEST(GoogleBenchmark, HasOneEntryPerValidSample) {
  const ResultFile file = sample_results();
  const Json entries = Json::parse(to_google_benchmark(file))["benchmarks"];
  const Row& row = file.groups[0].rows[0];  // 9 valid samples and 2 throttled
  const std::string name = benchmark_name(file.groups[0].key, row);
  EXPECT_EQ(name, "hotspot/baseline/iso/rows=512,cols=512,chip=scaled/cold/stream");
  int found = 0;
  for (const Json& entry : entries) {
    if (entry["name"] != name) continue;
    EXPECT_EQ(entry["repetitions"], 9);
    EXPECT_EQ(entry["repetition_index"], found);
    EXPECT_EQ(entry["time_unit"], "ns");
    EXPECT_DOUBLE_EQ(entry["real_time"].get<double>(),
                     row.samples[static_cast<std::size_t>(found)].time_ms * 1e6);
    ++found;
  }
  EXPECT_EQ(found, 9);
}

/// By name; of repetitions the last one.
std::map<std::string, Json> entries_of(const ResultFile& file) {
  std::map<std::string, Json> entries;
  const Json document = Json::parse(to_google_benchmark(file));
  for (const Json& entry : document["benchmarks"]) {
    entries[entry["name"].get<std::string>()] = entry;
  }
  return entries;
}

TEST(GoogleBenchmark, HasTheAggregatesAndCountersOfARow) {
  const ResultFile file = sample_results();
  const GroupResult& group = file.groups[0];
  const Row& row = group.rows[2];  // tma, with nine samples of which none is throttled
  const std::string name = benchmark_name(group.key, row);
  const auto entries = entries_of(file);
  const Json& median = entries.at(name + "_median");
  EXPECT_EQ(median["run_type"], "aggregate");
  EXPECT_EQ(median["run_name"], name);
  EXPECT_EQ(median["iterations"], 9);
  EXPECT_DOUBLE_EQ(median["real_time"].get<double>(), row.time_ms->median * 1e6);
  EXPECT_NEAR(median["bytes"].get<double>(), *row.gbytes_per_s * 1e9, 1);
  EXPECT_NEAR(median["operations"].get<double>(), *row.gflops * 1e9, 1);
  EXPECT_NEAR(median["floor"].get<double>(), *row.floor_fraction, 1e-12);
  EXPECT_EQ(median["sm_clock_mhz"], 1976);
  // Nine samples, evenly spaced around their median by a thousandth of it.
  const double deviation = 1e3 * row.time_ms->median * std::sqrt(7.5);
  EXPECT_NEAR(entries.at(name + "_stddev")["real_time"].get<double>(), deviation, 1e-6);
  const Json& variation = entries.at(name + "_cv");
  EXPECT_EQ(variation["aggregate_unit"], "percentage");
  EXPECT_NEAR(variation["real_time"].get<double>(), 1e-3 * std::sqrt(7.5), 1e-12);
}

TEST(GoogleBenchmark, AGroupWithoutCeilingsHasNoFloor) {
  ResultFile file = sample_results();
  file.groups[0].floor.reset();
  for (const auto& [name, entry] : entries_of(file)) EXPECT_FALSE(entry.contains("floor")) << name;
}

MicrobenchmarkRow point(const std::string& level, const std::string& quantity,
                        const std::string& unit, std::vector<Reading> samples) {
  MicrobenchmarkRow row;
  row.at = {{"level", level}};
  row.quantity = quantity;
  row.unit = unit;
  row.samples = std::move(samples);
  return row;
}

TEST(GoogleBenchmark, PointsHaveTheirReadingAndItsTime) {
  MicrobenchmarkResult m;
  m.name = "probe/first";
  m.rows = {point("l1", "latency", "cycles", {{33, 33, 16.5, 2000}, {35, 35, 17.5, 2000}}),
            point("launch", "time", "us", {{2.5}}), point("l2", "capacity", "KiB", {{100}, {104}})};
  m.rows.push_back(m.rows[0]);
  m.rows.back().at = {{"level", "dram"}};
  m.rows.back().status = RowStatus::failed;
  ResultFile file;
  file.microbenchmarks = {m};
  const auto entries = entries_of(file);
  const Json& cycles = entries.at("probe/first/level=l1");
  EXPECT_EQ(cycles["label"], "latency in cycles");
  EXPECT_EQ(cycles["real_time"], 17.5);
  EXPECT_EQ(cycles["value"], 35);
  EXPECT_EQ(cycles["cycles"], 35);
  EXPECT_EQ(cycles["sm_clock_mhz"], 2000);
  EXPECT_EQ(entries.at("probe/first/level=l1_mean")["value"], 34);
  const Json& time = entries.at("probe/first/level=launch");  // the reading is the time
  EXPECT_EQ(time["real_time"], 2500);
  EXPECT_FALSE(entries.contains("probe/first/level=launch_mean"));
  // What is no time would spoil the geometric mean of all single entries.
  EXPECT_FALSE(entries.contains("probe/first/level=l2"));
  const Json& capacity = entries.at("probe/first/level=l2_median");
  EXPECT_EQ(capacity["value"], 102);
  EXPECT_EQ(capacity["real_time"], 0);
  EXPECT_TRUE(says_no_time(capacity["label"].get<std::string>()));
  EXPECT_EQ(entries.size(), 5u + 1u + 4u);
  EXPECT_TRUE(has_benchmarks(file));
  file.microbenchmarks[0].rows = {m.rows.back()};
  EXPECT_FALSE(has_benchmarks(file));
}

TEST(GoogleBenchmark, SessionsAreRepetitionsOfTheSame) {
  ResultFile file;
  for (int session = 0; session < 3; ++session) {
    file.groups.push_back(sample_group(512));
    file.groups.back().session = session;
  }
  file.groups[2].invalid = {{InvalidKind::company, "somebody was there", "ask him to leave"}};
  const std::string name = benchmark_name(file.groups[0].key, file.groups[0].rows[2]);
  const auto entries = entries_of(file);
  EXPECT_EQ(entries.at(name)["repetitions"], 18);
  EXPECT_EQ(entries.at(name)["repetition_index"], 17);
  EXPECT_EQ(entries.at(name)["label"], "iso");
  EXPECT_FALSE(entries.at(name).contains("error_occurred"));
}

TEST(GoogleBenchmark, TheContextSaysWhereTheFileIsFrom) {
  ResultFile file = sample_results();
  file.provenance.dirty = true;
  const Json context = Json::parse(to_google_benchmark(file))["context"];
  EXPECT_EQ(context["gpu"], "NVIDIA H200");
  EXPECT_EQ(context["driver"], "13000");
  EXPECT_EQ(context["toolkit"], "NVIDIA 13.0.48");
  EXPECT_EQ(context["commit"], file.provenance.commit + "-dirty");
  EXPECT_EQ(context["sm_clock_max_mhz"], "1980");
  EXPECT_EQ(context["device_state.power_limit_w"], "700");
}

TEST(GoogleBenchmark, ARowThatFailedHasNoEntryEvenWithSamples) {
  ResultFile file{sample_provenance(), {}, {sample_trouble()}};
  file.groups[0].rows[0].samples = sample_times(1, 0);
  EXPECT_TRUE(Json::parse(to_google_benchmark(file))["benchmarks"].empty());
}

TEST(GoogleBenchmark, AnInvalidGroupIsAnErrorAndHasNoTime) {
  ResultFile file;
  file.groups = {sample_group(512)};
  file.groups[0].invalid = {{InvalidKind::company, "somebody was there", "ask him to leave"}};
  const Json entries = Json::parse(to_google_benchmark(file))["benchmarks"];
  ASSERT_EQ(entries.size(), file.groups[0].rows.size());  // and no aggregates
  for (const Json& entry : entries) {
    EXPECT_EQ(entry["error_occurred"], true);
    EXPECT_EQ(entry["error_message"], "company: somebody was there; ask him to leave");
    EXPECT_EQ(entry["real_time"], 0);
  }
}

TEST(GoogleBenchmark, NamesTellRowsApart) {
  const ResultFile file = sample_results();
  std::vector<std::string> names;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) names.push_back(benchmark_name(group.key, row));
  }
  Row candidate = file.groups[0].rows[0];
  candidate.role = Role::candidate;
  for (const char* config : {"64x8", "32x4"}) {
    candidate.config = config;
    names.push_back(benchmark_name(file.groups[0].key, candidate));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace amasia
