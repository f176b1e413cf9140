#include "harness/published/published.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "harness/microbenchmark.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

TEST(Csv, ReadsQuotesCommentsAndEmptyFields) {
  const CsvTable t = parse_csv("# a, b\na,b\n1,\"x, \"\"y\"\"\"\n,\n", "t");
  EXPECT_EQ(t.columns, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[0][1], "x, \"y\"");
  EXPECT_EQ(t.rows[1][0], "");
  EXPECT_THROW(parse_csv("a,b\n1\n", "t"), ResultError);
  EXPECT_THROW(parse_csv("a,b\n\"1,2\n", "t"), ResultError);
  EXPECT_THROW(t.column("c"), ResultError);
}

TEST(Published, RatioSaysWhatNeedsAnExplanation) {
  EXPECT_DOUBLE_EQ(against_published(32, 40).ratio, 0.8);
  EXPECT_FALSE(against_published(32, 40).notable);
  EXPECT_TRUE(against_published(61, 40).notable);
  EXPECT_TRUE(against_published(26, 40).notable);
  EXPECT_THROW(against_published(1, 0), std::invalid_argument);
}

TEST(Inventory, HasEveryIdOnceAndEachIsMappedOrSaysWhyNot) {
  EXPECT_EQ(inventory().size(), 98u);
  std::set<std::string> ids;
  for (const InventoryRow& row : inventory()) {
    EXPECT_TRUE(std::regex_match(row.id, std::regex("00[0-3]-[0-9]{2}"))) << row.id;
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " is there twice";
    EXPECT_TRUE(row.study.starts_with("seed" + row.id.substr(0, 3) + "-")) << row.id;
    EXPECT_FALSE(row.what.empty()) << row.id;
    if (row.by.empty()) {
      EXPECT_EQ(row.method, "nothing") << row.id;
      EXPECT_FALSE(row.remark.empty()) << row.id << " does not say why";
    } else {
      EXPECT_TRUE(row.method == "same" || row.method.starts_with("other: ")) << row.id;
    }
  }
  // Per document as many as its own list has: 42, 22, 14, 20.
  for (const auto& [document, count] : {std::pair("seed000", 42u), std::pair("seed001", 22u),
                                        std::pair("seed002", 14u), std::pair("seed003", 20u)}) {
    EXPECT_EQ(inventory_rows(document).size(), count) << document;
  }
}

TEST(Inventory, NamesMeanDocumentsStudiesAndIds) {
  EXPECT_EQ(inventory_rows("000-04").size(), 1u);
  EXPECT_EQ(inventory_rows("seed000-table4").size(), 4u);
  EXPECT_TRUE(inventory_rows("seed000-table99").empty());
  const auto names = inventory_names();
  EXPECT_EQ(names.front(), "seed000");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Comparisons, EveryLookUpFindsItsNumber) {
  std::set<std::string> ids;
  for (const InventoryRow& row : inventory()) ids.insert(row.id);
  for (const PublishedComparison& c : published_comparisons()) {
    EXPECT_TRUE(ids.contains(c.id)) << c.id;
    EXPECT_GT(published_value(c), 0) << c.id << ' ' << c.label;
    EXPECT_NO_THROW(parse_selectors(c.own)) << c.own;
  }
  EXPECT_GT(published_comparisons().size(), 50u);
}

TEST(Comparisons, AWrongLookUpSaysWhatIsWrong) {
  PublishedComparison c = published_comparisons().front();
  c.where = "scope=L9";
  EXPECT_THROW(published_value(c), ResultError);
  c.where = "";
  EXPECT_THROW(published_value(c), ResultError);  // several rows
  c = published_comparisons().front();
  c.column = "scope";
  EXPECT_THROW(published_value(c), ResultError);  // no number
  EXPECT_THROW(parse_selectors("pint a b c=1"), ResultError);
  EXPECT_THROW(parse_selectors("point a b"), ResultError);
  EXPECT_THROW(parse_selectors("point a b c"), ResultError);
}

ResultFile with_latency(double l1) {
  ResultFile file{sample_provenance(), sample_ceilings(), {sample_group(512)}, {}};
  MicrobenchmarkResult m{"memory/latency", "What?", "So.", "full"};
  MicrobenchmarkRow row;
  row.at = {{"method", "luo"}, {"level", "l1"}, {"link", "index"}};
  row.quantity = "latency";
  row.unit = "cycles";
  row.value = median_interval({l1, l1, l1}, 0.95);
  row.clock_mhz = 2000;
  m.rows = {row};
  row.at[1].second = "l2";
  row.value.reset();
  row.status = RowStatus::skipped;
  row.reason = "there is no L2";
  m.rows.push_back(row);
  m.findings = {{{{"level", "l1"}}, "capacity", "KiB", 192, 192, 224, "so"}};
  file.microbenchmarks = {m};
  return file;
}

TEST(OwnValue, IsTakenFromPointsFindingsCeilingsAndSpeedUps) {
  const ResultFile file = with_latency(41);
  std::string reason;
  const std::string l1 = "point memory/latency latency method=luo;level=l1";
  EXPECT_DOUBLE_EQ(own_value(file, l1, reason)->value, 41);
  EXPECT_EQ(own_value(file, l1, reason)->unit, "cycles");
  EXPECT_DOUBLE_EQ(
      own_value(file, "finding memory/latency capacity level=l1 / " + l1, reason)->value,
      192.0 / 41);
  EXPECT_DOUBLE_EQ(own_value(file, "point memory/latency latency:gbs level=l1", reason)->value, 82);
  EXPECT_TRUE(own_value(file, "ceiling copy_bandwidth", reason));
  EXPECT_TRUE(own_value(file, "speedup hotspot/tma best", reason));
  EXPECT_FALSE(own_value(file, "point memory/latency latency level=l2", reason));
  EXPECT_TRUE(contains(reason, "skipped: there is no L2"));
  EXPECT_FALSE(own_value(file, "point memory/other latency level=l2", reason));
  EXPECT_EQ(reason, "not measured");
}

TEST(Reproduction, HasALineForEveryRowAndPretendsNothing) {
  const Table nothing = reproduction_table(ResultFile{}, inventory());
  std::set<std::string> ids;
  for (const auto& row : nothing.rows) {
    ids.insert(std::get<std::string>(row[0]));
    const std::string status = std::get<std::string>(row[6]);
    // This test links no microbenchmark and no app.
    EXPECT_TRUE(status.starts_with("not yet: ") || status == "nothing to measure") << status;
    EXPECT_TRUE(std::holds_alternative<std::monostate>(row[2]));
  }
  EXPECT_EQ(ids.size(), 98u);
  const Table some = reproduction_table(with_latency(40.7), inventory_rows("000-04"));
  ASSERT_EQ(some.rows.size(), 3u);  // three GPUs
  EXPECT_EQ(std::get<std::string>(some.rows[0][6]), "reproduced");
  EXPECT_DOUBLE_EQ(std::get<double>(some.rows[0][5]), 1.0);
}

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

TEST(Reproduction, TakesARowWithoutAValueForNoMeasurement) {
  const Statuses without_number = statuses_of("002-11", "memory/compression", {});
  EXPECT_EQ(without_number.skipped, "skipped: there is no such unit");
  EXPECT_EQ(without_number.measured, "measured; no published number stands beside it");

  MicrobenchmarkRow peers;
  peers.at = {{"from", "0"}, {"to", "1"}, {"op", "copy"}};
  peers.quantity = "bandwidth";
  peers.unit = "GB/s";
  const Statuses with_number = statuses_of("002-13", "interconnect/peer", peers);
  EXPECT_EQ(with_number.skipped, "skipped: there is no such unit");
  EXPECT_EQ(with_number.measured, "reproduced");
}

}  // namespace
}  // namespace amasia
