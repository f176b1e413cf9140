#include <gtest/gtest.h>

#include <algorithm>

#include "harness/results/envelope.hpp"
#include "harness/session/completion.hpp"
#include "harness/session/validity.hpp"
#include "tests/files.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

Device h200() {
  Device d;
  d.name = "NVIDIA H200";
  d.compute_capability = 90;
  d.sm_count = 132;
  d.max_clock_mhz = 1980;
  d.memory_clock_mhz = 3201;
  d.memory_bus_bits = 6016;
  return d;
}

const std::string recorded = std::string(AMASIA_SOURCE_DIR) + "/results/h200";

Ceiling ceiling(const std::string& name, double value) {
  return {name, "GB/s", "", {value}, value};
}

TEST(Ceilings, WhatHeatsIsMeasuredLast) {
  std::vector<CeilingProbe> probes;
  for (const char* name : {"bf16_rate", "copy_bandwidth", "e4m3_rate", "fp32_rate", "int32_rate",
                           "tf32_rate", "write_bandwidth"}) {
    CeilingProbe probe;
    probe.name = name;
    probes.push_back(probe);
  }
  std::vector<std::string> order;
  for (const CeilingProbe& probe : in_measuring_order(probes)) order.push_back(probe.name);
  EXPECT_EQ(order,
            (std::vector<std::string>{"copy_bandwidth", "fp32_rate", "int32_rate",
                                      "write_bandwidth", "bf16_rate", "tf32_rate", "e4m3_rate"}));
}

TEST(Ceilings, OutOfLineWithEarlierRunsAreDoubted) {
  const std::vector<CeilingRecord> records{{"copy_bandwidth", {4240, 4250, 4260}},
                                           {"fp32_rate", {60000, 65000, 70000}},
                                           {"write_bandwidth", {4700, 4700}}};
  const auto doubted = [&](const std::string& name, double value) {
    return !doubtful_ceilings({ceiling(name, value)}, h200(), records).empty();
  };
  EXPECT_FALSE(doubted("copy_bandwidth", 4250 * 1.059));  // 6 % at least
  EXPECT_TRUE(doubted("copy_bandwidth", 4250 * 0.939));
  EXPECT_FALSE(doubted("fp32_rate", 65000 * 0.78));  // three times as far as the farthest
  EXPECT_TRUE(doubted("fp32_rate", 65000 * 0.76));
  EXPECT_FALSE(doubted("write_bandwidth", 100));  // two runs say nothing
  EXPECT_FALSE(doubted("read_bandwidth", 100));
}

TEST(Ceilings, OfEveryRecordedRunAreBelieved) {
  const auto records = read_ceiling_records(recorded, h200());
  const auto copies = std::find_if(records.begin(), records.end(),
                                   [](const auto& r) { return r.name == "copy_bandwidth"; });
  ASSERT_NE(copies, records.end());
  ASSERT_GE(copies->values.size(), 12u);
  // Each against the others: a run must not vouch for itself.
  std::size_t held = 0;
  for (const CeilingRecord& record : records) {
    for (std::size_t i = 0; i < record.values.size(); ++i) {
      CeilingRecord others = record;
      others.values.erase(others.values.begin() + static_cast<std::ptrdiff_t>(i));
      const auto doubts =
          doubtful_ceilings({ceiling(record.name, record.values[i])}, h200(), {others});
      EXPECT_TRUE(doubts.empty()) << doubts[0].reason;
      ++held;
    }
  }
  EXPECT_GE(held, 150u);  // so many at least are recorded: a reader that finds few holds nothing
  // What was measured beside a process that multiplied matrices all the while.
  EXPECT_FALSE(doubtful_ceilings({ceiling("copy_bandwidth", 1610)}, h200(), records).empty());
}

/// Of a result file, whose groups are never read.
std::string beginning(const std::string& mig, double value) {
  ResultFile file;
  file.provenance.device = h200();
  file.provenance.device_state = {{"mig", mig}};
  file.ceilings = {ceiling("copy_bandwidth", value)};
  const std::string text = to_text(file);
  return text.substr(0, text.find("\"groups\"")) + "this is never read";
}

TEST(Records, PassOverWhatIsNoResult) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, const std::string& text) {
    write_packed_file(folder / name, text);
  };
  write("good.json.gz", beginning("off", 4250.5));
  write("slice.json", beginning("on", 700));
  write("wrong.json", beginning("off", -3));
  write("text.json", "hello");
  write("deep.json", std::string(100, '['));
  write("tuning.json", R"({"schema": "amasia-tuning"})");
  write("empty.json", "");
  const auto records = read_ceiling_records(folder.path().string(), h200());
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].name, "copy_bandwidth");
  EXPECT_EQ(records[0].values, std::vector<double>{4250.5});
  Device other = h200();
  other.sm_count = 60;  // a slice
  EXPECT_TRUE(read_ceiling_records(folder.path().string(), other).empty());
  other = h200();
  other.name = "NVIDIA H100 80GB HBM3";
  EXPECT_TRUE(read_ceiling_records(folder.path().string(), other).empty());
  EXPECT_TRUE(read_ceiling_records("/nowhere/at/all", h200()).empty());
}

}  // namespace
}  // namespace amasia
