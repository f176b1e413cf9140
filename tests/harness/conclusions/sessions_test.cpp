#include "harness/conclusions/sessions.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "harness/conclusions/merge.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

ResultFile run_on(const std::string& gpu, const std::string& date) {
  ResultFile file{sample_provenance(), sample_ceilings(), {sample_group(512)}};
  file.provenance.device.uuid_hash = gpu;
  file.provenance.date_utc = date;
  return file;
}

const ResultFile a = run_on("one", "2026-11-20T10:00:00Z");

TEST(Sessions, APartOfACampaignNamesItsGpu) {
  ResultFile shard = a;
  EXPECT_EQ(gpu_of(shard.provenance, shard.groups[0]), "one");
  shard.groups[0].uuid_hash = "two";
  EXPECT_EQ(gpu_of(shard.provenance, shard.groups[0]), "two");
}

TEST(Sessions, TablesShowTheFirstThatHasTheCase) {
  ResultFile two = run_on("two", "2026-11-20T11:00:00Z");
  two.groups.push_back(sample_group(1024));
  const ResultFile merged = merge_files({a, two}, {"a", "two"});
  const auto shown = shown_groups(merged);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0]->session, 0);
  EXPECT_EQ(shown[1]->session, 1);
}

TEST(Sessions, TablesShowTheFirstWithTheLeastRounds) {
  ResultFile few = a, more = run_on("two", "2026-11-20T11:00:00Z"),
             three = run_on("three", "2026-11-21T11:00:00Z");
  few.groups[0].rounds = 8;
  more.groups[0].rounds = 15;
  three.groups[0].rounds = 51;
  ResultFile merged = merge_files({few, more, three}, {"a", "two", "three"});
  const auto shown = [&merged] { return shown_groups(merged).at(0)->session; };
  EXPECT_EQ(shown(), 1);
  std::swap(merged.groups[0], merged.groups[1]);  // in whatever order they stand
  EXPECT_EQ(shown(), 1);
  std::swap(merged.groups[0], merged.groups[1]);
  merged.groups[0].rounds = 15;
  EXPECT_EQ(shown(), 0);
}

TEST(Sessions, TablesShowTheOneWithMoreVariants) {
  ResultFile two = run_on("two", "2026-11-20T11:00:00Z");
  Row more = two.groups[0].rows[2];
  more.variant = "hotspot/cuda_barrier";
  two.groups[0].rows.push_back(more);
  ResultFile three = run_on("three", "2026-11-21T11:00:00Z");
  const ResultFile merged = merge_files({a, two, three}, {"a", "two", "three"});
  ASSERT_EQ(shown_groups(merged).size(), 1u);
  EXPECT_EQ(shown_groups(merged)[0]->session, 1);
  ResultFile disturbed = merged;
  for (GroupResult& group : disturbed.groups) {
    if (group.session == 1) group.invalid = {{InvalidKind::interference, "somebody", "wait"}};
  }
  EXPECT_EQ(shown_groups(disturbed)[0]->session, 0);
  // Of other code it does not stand for the first.
  ResultFile other = merged;
  for (GroupResult& group : other.groups) {
    if (group.session != 1) continue;
    for (Row& row : group.rows) row.source_digest = "another";
  }
  EXPECT_EQ(shown_groups(other)[0]->session, 0);
}

}  // namespace
}  // namespace amasia
