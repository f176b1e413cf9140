// Profiles: which metric becomes which counter, and the file.
#include "harness/results/profile.hpp"
#include "harness/conclusions/recomputed.hpp"

#include <gtest/gtest.h>

#include <set>

#include "tests/files.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

ProfileFile sample_profile() {
  ProfileFile file;
  file.provenance = sample_provenance();
  file.profiler = "Nsight Compute 2025.3.1.0";
  ProfiledGroup group;
  group.key = sample_group(1).key;
  group.preset = Preset::paper;
  group.seed = 3;
  ProfiledRow counted{"hotspot/tma", Role::best, "32x8", "wide", RowStatus::ok, "", "ab", {}};
  counted.counters = counters_of({{"smsp__inst_executed.sum", 620}});
  counted.counters->stalls = {{"barrier", 0.25}, {"selected", 0.75}};
  group.rows = {counted, {"hotspot/dsm", Role::iso, "", "", RowStatus::skipped, "no", "cd", {}}};
  group.warnings = {"a warning"};
  file.groups = {group};
  return file;
}

TEST(Counters, ComeFromTheFirstMetricThatWasCounted) {
  const std::string newer = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
                    older = "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active";
  EXPECT_DOUBLE_EQ(*counters_of({{newer, 50}, {older, 70}}).tensor_use, 0.5);
  EXPECT_DOUBLE_EQ(*counters_of({{older, 70}}).tensor_use, 0.7);
  EXPECT_EQ(counters_of({}).tensor_use, std::nullopt);
}

TEST(Counters, AreInTheUnitsOfTheFields) {
  const Counters c =
      counters_of({{"gpu__time_duration.sum", 2.5e6},
                   {"dram__bytes_read.sum", 1e9},
                   {"smsp__issue_active.avg.per_cycle_active", 0.4},
                   {"l1tex__m_xbar2l1tex_read_sectors.sum", 2},
                   {"sm__pipe_tma_cycles_active.avg.pct_of_peak_sustained_active", -0.05}});
  EXPECT_DOUBLE_EQ(*c.time_ms, 2.5);
  EXPECT_DOUBLE_EQ(*c.dram_read_bytes, 1e9);
  EXPECT_DOUBLE_EQ(*c.issue_slots, 0.4);
  EXPECT_DOUBLE_EQ(*c.sm_read_bytes, 64);
  EXPECT_DOUBLE_EQ(*c.tma_use, 0);  // a difference of counts, by its noise below nothing
}

TEST(Counters, EveryOneHasAMetricAndAMeaningOfItsOwn) {
  std::set<std::string_view> meanings;
  std::size_t fields = 0;
  for_each_field<Counters>([&](const auto& field) {
    ++fields;
    EXPECT_TRUE(meanings.insert(field.rules.meaning).second) << field.name;
    EXPECT_FALSE(field.rules.meaning.empty()) << field.name;
    if constexpr (requires { field.metrics; }) {
      EXPECT_NE(field.metrics.find("__"), std::string_view::npos) << field.name;
    }
  });
  EXPECT_GT(fields, 15u);
  const std::vector<std::string> metrics = counted_metrics();
  EXPECT_EQ(std::set<std::string>(metrics.begin(), metrics.end()).size(), metrics.size());
}

TEST(ProfileFile, IsRefusedWhenItIsNotWhatWasWritten) {
  const auto error = [](const std::string& what, const std::string& other) {
    std::string text = to_text(sample_profile());
    text.replace(text.find(what), what.size(), other);
    return message_of<ResultError>([&] { profile_from_text(text, "it"); });
  };
  EXPECT_TRUE(contains(error("620", "621"), "it: digest: expected sha256:"));
  EXPECT_TRUE(contains(error("\"version\":2", "\"version\":3"), "it: version: 3 is newer"));
  EXPECT_TRUE(contains(error("\"version\":2", "\"version\":1"), "is a profile file of format 1"));
  EXPECT_TRUE(contains(error("amasia-profile", "amasia-result"), "\"amasia-profile\""));
  EXPECT_THROW(result_from_text(to_text(sample_profile()), "it"), ResultError);
}

}  // namespace
}  // namespace amasia
