#include "harness/report/export.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

TEST(Export, FormsAreTheRecordedOnes) {
  const ResultFile file = sample_results();
  expect_golden("samples.csv", to_csv_samples(file));
  expect_golden("summary.csv", to_csv_summary(file));
  expect_golden("result.md", to_markdown(file));
  expect_golden("google_benchmark.json", to_google_benchmark(file));
}

TEST(Export, EverySampleIsARowOfTheSampleTable) {
  const ResultFile file = sample_results();
  std::size_t samples = 0;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) samples += row.samples.size();
  }
  EXPECT_EQ(sample_table(file).rows.size(), samples);
  EXPECT_GT(samples, 60u);
}

TEST(Export, ARowThatFailedHasNoTimeAnywhere) {
  ResultFile file{sample_provenance(), {}, {sample_trouble()}};
  const Table table = summary_table(file);
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].key != "time_ms") continue;
    for (const auto& row : table.rows)
      EXPECT_TRUE(std::holds_alternative<std::monostate>(row[column]));
  }
  // Not even when its samples were left in.
  file.groups[0].rows[0].samples = sample_times(1, 0);
  EXPECT_TRUE(Json::parse(to_google_benchmark(file))["benchmarks"].empty());
  const std::string text = to_markdown(file);
  EXPECT_TRUE(
      contains(text,
               "FAILED pathfinder/overlap (iso): wrong result, see \"first mismatches\" in the "
               "file\n"));
  EXPECT_TRUE(contains(text, "  - (0, 3): got 3, expected 4"));
  EXPECT_TRUE(contains(text, "CRASHED pathfinder/tma (best): an illegal memory access"));
  EXPECT_TRUE(contains(text, "skipped pathfinder/dsm (best): needs sm_90, this is sm_80"));
}

TEST(Export, NothingResolvedIsNotCalledASpeedup) {
  GroupResult group = sample_group(512);
  Comparison& tma = group.comparisons[1];
  ASSERT_EQ(tma.variant, "hotspot/tma");
  EXPECT_EQ(claim(group, tma), "faster");
  tma.speedup.resolved = false;
  tma.verdict = "not resolved";
  EXPECT_EQ(claim(group, tma), "not resolved");
  const std::string text = to_markdown(ResultFile{sample_provenance(), {}, {group}});
  EXPECT_TRUE(contains(text, "| not resolved: 1.249"));
}

TEST(Export, NoClaimIsSmallerThanTheNoise) {
  const GroupResult group = sample_group(512);
  const auto bypass =
      std::find_if(group.comparisons.begin(), group.comparisons.end(),
                   [](const Comparison& c) { return c.variant == "hotspot/register_bypass"; });
  ASSERT_NE(bypass, group.comparisons.end());
  ASSERT_EQ(bypass->verdict, "slower");  // resolved by its own interval
  EXPECT_EQ(claim(group, *bypass), "within A/A noise");
  GroupResult quiet = group;
  for (Comparison& c : quiet.comparisons) {
    if (c.control) c.speedup = {1, 1, 1, 0.95, 9, false};
  }
  EXPECT_EQ(claim(quiet, *bypass), "slower");
  // The noise of another role says nothing about this one; a comparator has that of best.
  GroupResult other = group;
  std::erase_if(other.comparisons,
                [](const Comparison& c) { return c.control && c.role == "best"; });
  EXPECT_EQ(claim(other, *bypass), "slower");
  Comparison library = *bypass;
  library.role = "comparator";
  EXPECT_EQ(claim(group, library), "within A/A noise");
}

TEST(Export, SentencesForResolvedBestComparisonsOnly) {
  GroupResult group = sample_group(512);
  const std::vector<std::string> lines = sentences(group);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(contains(
      lines[0],
      "hotspot rows=512,cols=512,chip=scaled cold stream: tma ran 1.249x [1.249, 1.249] "));
  EXPECT_TRUE(contains(lines[0], "faster than baseline"));

  for (Comparison& c : group.comparisons) {
    if (c.variant != "hotspot/tma") continue;
    c.speedup = {0.8, 0.5, 0.9, 0.99, 9, true};
    c.verdict = "slower";
  }
  EXPECT_TRUE(
      contains(sentences(group).at(0), "tma ran 1.250x [1.111, 2.000] slower than baseline"));
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

TEST(GoogleBenchmark, NamesTellRowsApart) {
  const ResultFile file = sample_results();
  std::vector<std::string> names;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) names.push_back(benchmark_name(group.key, row));
  }
  Row candidate = file.groups[0].rows[0];
  candidate.role = "candidate";
  for (const char* config : {"64x8", "32x4"}) {
    candidate.config = config;
    names.push_back(benchmark_name(file.groups[0].key, candidate));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace amasia
