#include "harness/report/markdown.hpp"

#include <gtest/gtest.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/report/cells.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

TEST(Markdown, IsTheRecordedOne) { expect_golden("result.md", to_markdown(sample_results())); }

TEST(Markdown, PrintsTimesThatDivideToTheSpeedups) {
  const ResultFile file = sample_results();
  std::size_t divided = 0;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      const Comparison* c = comparison_of(group, row);
      if (c == nullptr) continue;
      const auto pair = rows_of(group.rows, *c);
      ASSERT_TRUE(pair.has_value());
      ASSERT_EQ(pair->row, &row);  // the time in the same line of the table
      const double quotient = pair->reference->time_ms->median / row.time_ms->median;
      EXPECT_GE(quotient, 0.998 * c->speedup.low) << row.variant;
      EXPECT_LE(quotient, 1.002 * c->speedup.high) << row.variant;
      ++divided;
    }
  }
  EXPECT_GT(divided, 3u);
}

TEST(Markdown, HoldsASpellingAgainstItsStrategy) {
  GroupResult group = sample_group(512);
  EXPECT_FALSE(contains(to_markdown(ResultFile{sample_provenance(), {}, {group}}),
                        "implemented with a library"));
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
  EXPECT_TRUE(contains(text, "\nStrategies beside the same implemented with a library"));
  EXPECT_TRUE(contains(text, "| tma | cuda_barrier | wide |")) << text;
  const std::size_t line = text.find("| tma | cuda_barrier | wide |");
  EXPECT_EQ(text.substr(line, text.find('\n', line) - line),
            "| tma | cuda_barrier | wide | 0.5000 [0.5000, 0.5000] | 0.4000 [0.4000, 0.4000] | "
            "0.8000 [0.7900, 0.8100] |");
}

}  // namespace
}  // namespace amasia
