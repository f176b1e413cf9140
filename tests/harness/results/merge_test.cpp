#include "harness/results/merge.hpp"
#include "harness/plan/shard.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

ResultFile shard(const std::string& name, const std::vector<int>& rows) {
  ResultFile file{sample_provenance(), sample_ceilings(), {}};
  file.provenance.settings["shard"] = name;
  for (const int r : rows) file.groups.push_back(sample_group(r));
  return file;
}

std::string error_of(const std::vector<ResultFile>& files) {
  return message_of<ResultError>([&] { merge_files(files, {"a.json", "b.json"}); });
}

TEST(MergeFiles, ShardsGiveBackThePlan) {
  const std::vector<int> plan{1, 2, 3, 4, 5, 6, 7};
  std::vector<ResultFile> files;
  std::vector<std::string> names;
  for (int i = 1; i <= 3; ++i) {
    std::vector<int> mine;
    for (const std::size_t member : shard_members(plan.size(), i, 3)) mine.push_back(plan[member]);
    files.push_back(shard(std::to_string(i) + "/3", mine));
    names.push_back("shard" + std::to_string(i));
  }
  const ResultFile merged = merge_files(files, names);
  ASSERT_EQ(merged.groups.size(), plan.size());
  for (std::size_t i = 0; i < plan.size(); ++i) {
    EXPECT_EQ(dump_json(to_json(merged.groups[i])), dump_json(to_json(sample_group(plan[i]))));
  }
  EXPECT_EQ(merged.provenance.settings.at("shard"), "1/3,2/3,3/3");
}

TEST(MergeFiles, OneFileIsItself) {
  const ResultFile file = sample_results();
  EXPECT_EQ(dump_json(to_json(merge_files({file}, {"a.json"}))), dump_json(to_json(file)));
}

TEST(MergeFiles, PoolsCeilings) {
  ResultFile a = shard("1/2", {1}), b = shard("2/2", {2});
  a.ceilings = {{"copy_bandwidth", "GB/s", "m", {1, 9}, 5}};
  b.ceilings = {{"copy_bandwidth", "GB/s", "m", {2}, 2}, {"fp32_rate", "GFLOP/s", "m", {7}, 7}};
  const ResultFile merged = merge_files({a, b}, {"a.json", "b.json"});
  ASSERT_EQ(merged.ceilings.size(), 2u);
  EXPECT_EQ(merged.ceilings[0].samples, (std::vector<double>{1, 9, 2}));
  EXPECT_EQ(merged.ceilings[0].value, 2);
  EXPECT_EQ(merged.ceilings[1].value, 7);
}

TEST(MergeFiles, TheSameGroupTwiceIsAConflict) {
  const std::string error = error_of({shard("1/2", {1, 2}), shard("2/2", {3, 2})});
  EXPECT_TRUE(
      contains(error, "a.json and b.json cannot be merged, both have the group hotspot rows=2"));
  // In one file, too.
  EXPECT_THROW(merge_files({shard("", {2, 2})}, {"a.json"}), ResultError);
}

TEST(MergeFiles, RefusesWhatDoesNotFit) {
  struct Case {
    const char* expected;
    void (*change)(Provenance&);
  };
  const Case cases[] = {
      {"setting precision", [](Provenance& p) { p.settings["precision"] = "0.1"; }},
      {"GPU: NVIDIA H200 against NVIDIA H100",
       [](Provenance& p) { p.device.name = "NVIDIA H100"; }},
      {"CUDA driver", [](Provenance& p) { p.device.driver_version = 1; }},
      {"CUDA compiler", [](Provenance& p) { p.cuda_compiler = "x"; }},
      {"sources of the harness", [](Provenance& p) { p.harness_digest = "x"; }},
      {"sources of hotspot/tma", [](Provenance& p) { p.sources["hotspot/tma"] = "x"; }},
  };
  for (const Case& c : cases) {
    ResultFile b = shard("2/2", {2});
    c.change(b.provenance);
    const std::string error = error_of({shard("1/2", {1}), b});
    EXPECT_TRUE(contains(error, "a.json and b.json cannot be merged, they differ in "));
    EXPECT_TRUE(contains(error, c.expected));
  }
  EXPECT_TRUE(contains(message_of<ResultError>([] { merge_files({}, {}); }), "nothing to merge"));
}

TEST(MergeFiles, NamesTheFilesThatDiffer) {
  ResultFile c = shard("3/3", {3});
  c.provenance.sources["hotspot/tma"] = "x";
  const std::string error = message_of<ResultError>([&] {
    merge_files({shard("1/3", {}), shard("2/3", {2}), c}, {"a.json", "b.json", "c.json"});
  });
  EXPECT_TRUE(contains(error, "c.json"));
}

TEST(MergeFiles, AnotherGpuOfTheTypeIsSaid) {
  ResultFile b = shard("2/2", {2});
  b.provenance.device.uuid_hash = "other";
  const ResultFile merged = merge_files({shard("1/2", {1}), b}, {"a.json", "b.json"});
  EXPECT_TRUE(merged.groups[0].warnings.empty());
  ASSERT_EQ(merged.groups[1].warnings.size(), 1u);
  EXPECT_TRUE(contains(merged.groups[1].warnings[0], "another NVIDIA H200 (other)"));
}

TEST(MergeFiles, ProvenanceCoversAllFiles) {
  ResultFile a = shard("1/2", {1}), b = shard("2/2", {2});
  b.provenance.dirty = true;
  b.provenance.commit = "fedc";
  b.provenance.date_utc = "2026-11-20T00:00:00Z";
  const Provenance from = merge_files({a, b}, {"a.json", "b.json"}).provenance;
  EXPECT_TRUE(from.dirty);
  EXPECT_EQ(from.commit, a.provenance.commit + ",fedc");
  EXPECT_EQ(from.date_utc, "2026-11-20T00:00:00Z");
}

}  // namespace
}  // namespace amasia
