#include "harness/published/reproduction_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/microbenchmark.hpp"
#include "harness/published/comparisons.hpp"
#include "tests/harness/published/latency_results.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

/// The status of an id whose microbenchmark was skipped, and then measured.
struct Statuses {
  std::string skipped, measured;
};
Statuses statuses_of(const std::string& id, const std::string& microbenchmark,
                     MicrobenchmarkRow row) {
  Point point;
  point.at = row.at;
  register_microbenchmark({microbenchmark, "How fast?", "Method.",
                           [point](const Device&, Scope) { return std::vector<Point>{point}; }});
  const auto status = [&] {
    ResultFile file;
    file.provenance.device.compute_capability = 90;
    MicrobenchmarkResult result;
    result.name = microbenchmark;
    result.rows = {row};
    file.microbenchmarks = {result};
    return std::get<std::string>(reproduction_table(file, inventory_rows(id)).rows[0][6]);
  };
  Statuses statuses;
  row.status = RowStatus::skipped;
  row.reason = "there is no such unit";
  statuses.skipped = status();
  row.status = RowStatus::ok;
  row.value = MedianInterval{388, 387, 389, 5};
  statuses.measured = status();
  return statuses;
}

TEST(Reproduction, HasALineForEveryRowAndPretendsNothing) {
  const Table nothing = reproduction_table(ResultFile{}, inventory());
  std::set<std::string> ids;
  for (const auto& row : nothing.rows) {
    ids.insert(std::get<std::string>(row[0]));
    const std::string status = std::get<std::string>(row[6]);
    // This test links no microbenchmark and no app.
    EXPECT_TRUE(status.starts_with("not yet: ") || status == "needs another GPU" ||
                status.starts_with("nothing to measure"))
        << status;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(row[2]));
  }
  EXPECT_EQ(ids.size(), 103u);
  const Table some = reproduction_table(with_latency(40.7), inventory_rows("000-04"));
  ASSERT_EQ(some.rows.size(), 3u);  // three GPUs
  EXPECT_EQ(std::get<std::string>(some.rows[0][6]), "agrees within 10 %");
  EXPECT_DOUBLE_EQ(std::get<double>(some.rows[0][5]), 1.0);
  const Table off = reproduction_table(with_latency(50), inventory_rows("000-04"));
  EXPECT_EQ(std::get<std::string>(off.rows[0][6]), "differs");
  EXPECT_EQ(std::get<std::string>(off.rows[1][6]), "other hardware");  // an A100's
}

TEST(Reproduction, TakesARowWithoutAValueForNoMeasurement) {
  const Statuses without_number = statuses_of("002-03", "dsm/active_clusters", {});
  EXPECT_EQ(without_number.skipped, "skipped: there is no such unit");
  EXPECT_EQ(without_number.measured, "measured; no published number stands beside it");

  MicrobenchmarkRow peers;
  peers.at = {{"from", "0"}, {"to", "1"}, {"op", "copy"}};
  peers.quantity = "bandwidth";
  peers.unit = "GB/s";
  const Statuses with_number = statuses_of("002-13", "interconnect/peer", peers);
  EXPECT_EQ(with_number.skipped, "skipped: there is no such unit");
  EXPECT_EQ(with_number.measured, "agrees");
}

}  // namespace
}  // namespace amasia
