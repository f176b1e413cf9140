#include "harness/report/markdown.hpp"

#include <gtest/gtest.h>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

TEST(Markdown, IsTheRecordedOne) { expect_golden("result.md", to_markdown(sample_results())); }

TEST(Markdown, TellsWhatWentWrong) {
  const ResultFile file{sample_provenance(), {}, {sample_trouble()}};
  const std::string text = to_markdown(file);
  EXPECT_TRUE(
      contains(text,
               "FAILED pathfinder/overlap (iso): wrong result, see \"first mismatches\" in the "
               "file\n"));
  EXPECT_TRUE(contains(text, "  - (0, 3): got 3, expected 4"));
  EXPECT_TRUE(contains(text, "CRASHED pathfinder/tma (best): an illegal memory access"));
  EXPECT_TRUE(contains(text, "skipped pathfinder/dsm (best): needs sm_90, this is sm_80"));
}

TEST(Markdown, NothingResolvedIsNotCalledASpeedup) {
  GroupResult group = sample_group(512);
  ASSERT_EQ(group.comparisons[1].variant, "hotspot/tma");
  group.comparisons[1].claim = SpeedClaim::not_resolved;
  const std::string text = to_markdown(ResultFile{sample_provenance(), {}, {group}});
  EXPECT_TRUE(contains(text, "| not resolved: 1.249"));
}

}  // namespace
}  // namespace amasia
