#include "harness/report/google_benchmark.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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
  ASSERT_EQ(entries.size(), file.groups[0].rows.size());
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
