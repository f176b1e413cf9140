#include "harness/session/completion.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

/// A group of 40 rounds in which tma's times have a share added that goes by the round.
GroupResult group_with(const std::function<double(int)>& added) {
  GroupResult group = sample_group(512);
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    Row& row = group.rows[r];
    const double median = row.time_ms->median;
    row.samples.clear();
    for (int round = 0; round < 40; ++round) {
      // Of every row its own order, in which nothing follows from the round before.
      const double noise =
          1e-4 * ((round * (17 + 6 * static_cast<int>(r)) + 5 * round * round) % 41);
      const double of_row = row.variant == "hotspot/tma" ? added(round) : 0;
      row.samples.push_back(
          {round, static_cast<int>(r), static_cast<float>(median * (1 + noise + of_row)), 1980.0});
    }
  }
  group.rounds = 40;
  return group;
}

TEST(DependentSamples, QuietRowsAreNotWarnedOf) {
  GroupResult group = group_with([](int) { return 0.0; });
  summarise(group, 0.95);
  EXPECT_TRUE(group.warnings.empty()) << group.warnings.front();
}

TEST(DependentSamples, ARowThatJumpsIsNamed) {
  GroupResult group = group_with([](int round) { return round < 20 ? 0.0 : 0.02; });
  summarise(group, 0.95);
  ASSERT_EQ(group.warnings.size(), 2u);  // iso and best
  EXPECT_TRUE(contains(group.warnings[0], "hotspot/tma iso: its ratio to hotspot/baseline"));
  EXPECT_TRUE(contains(group.warnings[0], "over 40 rounds"));
  EXPECT_TRUE(contains(group.warnings[0], "--sessions"));
}

TEST(DependentSamples, WhatAllRowsShareIsNone) {
  GroupResult group = group_with([](int) { return 0.0; });
  for (Row& row : group.rows) {
    for (Sample& s : row.samples) s.time_ms *= s.round < 20 ? 1 : 1.05F;
  }
  summarise(group, 0.95);
  EXPECT_TRUE(group.warnings.empty());
}

}  // namespace
}  // namespace amasia
