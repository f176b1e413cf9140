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

TEST(Markdown, HoldsASpellingAgainstItsStrategy) {
  GroupResult group = sample_group(512);
  EXPECT_FALSE(
      contains(to_markdown(ResultFile{sample_provenance(), {}, {group}}), "in a library's words"));
  const auto of = [&](const std::string& variant, Role role, double ms) {
    Row row = group.rows[0];
    row.variant = variant;
    row.role = role;
    row.config = "wide";
    row.time_ms = MedianInterval{ms, ms, ms, 0.95, 9, ms, ms};
    return row;
  };
  group.rows.push_back(of("hotspot/cuda_barrier", Role::comparator, 0.5));
  group.rows.back().spells = "tma";
  group.rows.push_back(of("hotspot/tma", Role::counterpart, 0.4));
  Comparison price = group.comparisons[1];
  price.variant = "hotspot/cuda_barrier";
  price.role = Role::counterpart;
  price.against = "hotspot/tma";
  price.speedup = {0.8, 0.79, 0.81, 0.95, 9, true};
  price.claim = SpeedClaim::slower;
  group.comparisons.push_back(price);
  const std::string text = to_markdown(ResultFile{sample_provenance(), {}, {group}});
  EXPECT_TRUE(contains(text, "\nStrategies beside the same in a library's words"));
  EXPECT_TRUE(contains(text, "| tma | cuda_barrier | wide |")) << text;
  const std::size_t line = text.find("| tma | cuda_barrier | wide |");
  EXPECT_EQ(text.substr(line, text.find('\n', line) - line),
            "| tma | cuda_barrier | wide | 0.5000 [0.5000, 0.5000] | 0.4000 [0.4000, 0.4000] | "
            "0.8000 [0.7900, 0.8100] |");
}

}  // namespace
}  // namespace amasia
