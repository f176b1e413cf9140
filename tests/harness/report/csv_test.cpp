#include "harness/report/csv.hpp"

#include <gtest/gtest.h>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

TEST(Csv, IsTheRecordedOne) {
  const ResultFile file = sample_results();
  expect_golden("samples.csv", to_csv_samples(file));
  expect_golden("summary.csv", to_csv_summary(file));
}

TEST(Csv, EverySampleIsARowOfTheSampleTable) {
  const ResultFile file = sample_results();
  std::size_t samples = 0;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) samples += row.samples.size();
  }
  EXPECT_EQ(sample_table(file).rows.size(), samples);
  EXPECT_GT(samples, 60u);
}

TEST(Csv, ARowThatFailedHasNoTime) {
  const ResultFile file{sample_provenance(), {}, {sample_trouble()}};
  const Table table = summary_table(file);
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].key != "time_ms") continue;
    for (const auto& row : table.rows)
      EXPECT_TRUE(std::holds_alternative<std::monostate>(row[column]));
  }
}

}  // namespace
}  // namespace amasia
