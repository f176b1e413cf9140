// What Nsight Compute prints, in the shapes of its pages (tests/golden/ncu).
#include "harness/process/ncu_output.hpp"

#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "harness/process/profiler.hpp"
#include "harness/results/profile_fields.hpp"
#include "tests/files.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

NcuOutput golden_output(const std::string& name) {
  const std::string path = std::string(AMASIA_SOURCE_DIR) + "/tests/golden/ncu/" + name;
  return parse_ncu_output(read_text(path), name);
}

TEST(NcuOutput, TheRawPageHasAColumnForEachMetricAndALineOfUnits) {
  const NcuOutput output = golden_output("raw.csv");
  ASSERT_EQ(output.results.size(), 2u);
  const auto& first = output.results[0];
  EXPECT_EQ(first.name.rfind("void pathfinder_kernel<(int)256, 4>", 0), 0u);
  EXPECT_DOUBLE_EQ(first.metrics.at("dram__bytes_read.sum"), 4.21e6);
  EXPECT_DOUBLE_EQ(first.metrics.at("dram__bytes_write.sum"), 12800);
  EXPECT_DOUBLE_EQ(first.metrics.at("gpu__time_duration.sum"), 8740);
  EXPECT_DOUBLE_EQ(first.metrics.at("smsp__inst_executed.sum"), 1204224);
  EXPECT_FALSE(first.metrics.contains("Process ID"));
  EXPECT_TRUE(output.errors.empty());
}

/// Printed by version 2025.3 on an H100, some of its columns.
TEST(NcuOutput, IsReadAsItWasPrinted) {
  const NcuOutput output = golden_output("h100.csv");
  ASSERT_EQ(output.results.size(), 3u);
  const CountedResult& kernel = output.results[1];
  EXPECT_EQ(kernel.name,
            "void unnamed>::tma_pyramid<OneTile<1, 12>>(PyramidView, unnamed>::"
            "PyramidMaps)");
  EXPECT_DOUBLE_EQ(kernel.metrics.at("smsp__inst_executed.sum"), 7053483);
  EXPECT_DOUBLE_EQ(kernel.metrics.at("gpu__time_duration.sum"), 13088);
  EXPECT_DOUBLE_EQ(kernel.metrics.at("launch__registers_per_thread"), 22);
  EXPECT_FALSE(kernel.metrics.contains("launch__cluster_scheduling_policy"));
  EXPECT_FALSE(kernel.metrics.contains("derived__local_spilling_requests_pct"));  // "no data"
  const Counters counters = counters_of(kernel.metrics);
  EXPECT_EQ(counters.stalls.size(), std::size(stall_reasons));
  EXPECT_NEAR(counters.stalls.at("selected"), 1 / 20.84, 1e-9);
  EXPECT_NEAR(counters.stalls.at("long_scoreboard"), 8.67 / 20.84, 1e-9);
}

TEST(NcuOutput, TheDetailsPageHasALineForEachMetric) {
  const NcuOutput output = golden_output("details.csv");
  ASSERT_EQ(output.results.size(), 2u);
  EXPECT_DOUBLE_EQ(output.results[0].metrics.at("dram__bytes_read.sum"), 1.5e9);
  EXPECT_DOUBLE_EQ(output.results[0].metrics.at("gpu__time_duration.sum"), 2.25e6);
  EXPECT_EQ(output.results[0].metrics.size(), 2u);  // and nothing of the rule
  EXPECT_DOUBLE_EQ(output.results[1].metrics.at("dram__bytes_read.sum"), 7);
}

TEST(NcuOutput, ErrorsAreKept) {
  const NcuOutput output = golden_output("forbidden.txt");
  EXPECT_TRUE(output.results.empty());
  ASSERT_EQ(output.errors.size(), 1u);
  EXPECT_EQ(output.errors[0].rfind("ERR_NVGPUCTRPERM - ", 0), 0u);
  EXPECT_NE(why_forbidden(output).find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  EXPECT_EQ(why_forbidden(golden_output("raw.csv")), "");
}

TEST(NcuOutput, ATornTableIsRefusedWithItsPlace) {
  const std::string text = "\"ID\",\"a__b\"\n\"\",\"byte\"\n\"0\"\n";
  EXPECT_EQ(message_of<ResultError>([&] { parse_ncu_output(text, "torn"); }),
            "torn:4: expected 2 fields, found 1");
}

TEST(NcuOutput, SeveralTablesFollowEachOther) {
  const std::string one = "\"ID\",\"a__b\"\n\"0\",\"1\"\n";
  EXPECT_EQ(parse_ncu_output(one + "==PROF== more\n" + one, "two").results.size(), 2u);
}

TEST(NcuValue, OfADecimalCommaIsRefused) {
  for (const char* text : {"2,68", "0,123", "1.234,5", "12345,678", "1,234,5", "-2,5"}) {
    EXPECT_TRUE(contains(message_of<ResultError>([&] { ncu_value(text, "%"); }), "LC_ALL=C"));
  }
  EXPECT_EQ(ncu_value("-1,234,567.5", ""), -1234567.5);
  EXPECT_THROW(parse_ncu_output("\"ID\",\"a__b\"\n\"0\",\"2,68\"\n", "it"), ResultError);
}

TEST(NcuValue, IsInBaseUnits) {
  EXPECT_EQ(ncu_value("1,234.5", "Kbyte"), 1234500);
  EXPECT_EQ(ncu_value("2", "usecond"), 2000);
  EXPECT_EQ(ncu_value("50", "%"), 50);
  EXPECT_EQ(ncu_value("7", "inst"), 7);
  for (const char* none : {"", "n/a", "(!) n/a", "nan", "inf", "1.5x", "-", ",", "0x10"}) {
    EXPECT_EQ(ncu_value(none, ""), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace amasia
