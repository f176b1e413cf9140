#include "harness/report/csv.hpp"

#include <gtest/gtest.h>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

TEST(Csv, IsTheRecordedOne) {
  const ResultFile file = sample_results();
  expect_golden("samples.csv", to_csv(sample_table(file)));
  expect_golden("summary.csv", to_csv(summary_table(file)));
}

TEST(Csv, EveryTableSaysWhereItsRowsAreFrom) {
  ResultFile file = sample_results();
  MicrobenchmarkResult m;
  m.rows.emplace_back();
  file.microbenchmarks = {m};
  file.provenance.sessions = {{.date_utc = {}, .commit = "first"},
                              {.date_utc = {}, .commit = "second", .dirty = true}};
  file.groups[0].session = 0;
  file.groups[1].session = 1;
  file.microbenchmarks[0].session = 1;
  for (const Table& table : {sample_table(file), summary_table(file), point_table(file)}) {
    std::vector<std::string> keys;
    for (int i = 0; i < 4; ++i) keys.push_back(table.columns[static_cast<std::size_t>(i)].key);
    EXPECT_EQ(keys, (std::vector<std::string>{"gpu", "driver", "toolkit", "commit"}));
    ASSERT_FALSE(table.rows.empty());
    EXPECT_EQ(plain_text(table.rows[0][0]), "NVIDIA H200");
    EXPECT_EQ(plain_text(table.rows[0][1]), "13000");
  }
  EXPECT_EQ(plain_text(summary_table(file).rows.front()[3]), "first");
  EXPECT_EQ(plain_text(summary_table(file).rows.back()[3]), "second-dirty");
  EXPECT_EQ(plain_text(point_table(file).rows.front()[3]), "second-dirty");
}

}  // namespace
}  // namespace amasia
