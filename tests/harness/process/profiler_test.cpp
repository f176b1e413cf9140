// What Nsight Compute prints, in the shapes of its pages (tests/golden/ncu).
#include "harness/process/profiler.hpp"

#include <gtest/gtest.h>

#include "harness/errors.hpp"
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
  // Its units are as they are printed: the program asks for base units.
  EXPECT_DOUBLE_EQ(output.results[0].at("dram__bytes_read.sum"), 4.21);
  EXPECT_DOUBLE_EQ(output.results[0].at("smsp__inst_executed.sum"), 1204224);
  EXPECT_FALSE(output.results[0].contains("Process ID"));
  EXPECT_TRUE(output.errors.empty());
}

/// Printed by version 2025.3 on an H100, some of its columns.
TEST(NcuOutput, IsReadAsItWasPrinted) {
  const NcuOutput output = golden_output("h100.csv");
  ASSERT_EQ(output.results.size(), 3u);
  const CountedResult& kernel = output.results[1];
  EXPECT_DOUBLE_EQ(kernel.at("smsp__inst_executed.sum"), 7053483);
  EXPECT_DOUBLE_EQ(kernel.at("gpu__time_duration.sum"), 13088);
  EXPECT_DOUBLE_EQ(kernel.at("launch__registers_per_thread"), 22);
  EXPECT_FALSE(kernel.contains("launch__cluster_scheduling_policy"));
  EXPECT_FALSE(kernel.contains("derived__local_spilling_requests_pct"));  // "no data"
  const Counters counters = counters_of(kernel);
  EXPECT_EQ(counters.stalls.size(), std::size(stall_reasons));
  EXPECT_NEAR(counters.stalls.at("selected"), 1 / 20.84, 1e-9);
  EXPECT_NEAR(counters.stalls.at("long_scoreboard"), 8.67 / 20.84, 1e-9);
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

TEST(NcuOutput, WhatIsNoNumberIsAbsent) {
  const auto counted = [](const std::string& value) {
    return parse_ncu_output("\"ID\",\"a__b\"\n\"0\",\"" + value + "\"\n", "it").results.at(0);
  };
  EXPECT_EQ(counted("-1,234,567.5"), (CountedResult{{"a__b", -1234567.5}}));
  for (const char* none : {"", "n/a", "(!) n/a", "nan", "inf", "1.5x", "-", ",", "0x10"}) {
    EXPECT_EQ(counted(none), CountedResult{}) << none;
  }
}

}  // namespace
}  // namespace amasia
