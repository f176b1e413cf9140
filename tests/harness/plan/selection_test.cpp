#include "harness/plan/selection.hpp"

#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

const bool registered =
    register_apps_to_plan() && register_microbenchmark(question_to_plan("memory/steps"));

std::vector<std::string> names(const std::vector<SelectedApp>& selected) {
  std::vector<std::string> all;
  for (const SelectedApp& s : selected) {
    for (const Variant* v : s.variants) all.push_back(v->name());
  }
  return all;
}

TEST(Selection, NoPatternIsEveryVariantAndNoMicrobenchmark) {
  const Selection all = select({});
  EXPECT_EQ(names(all.apps),
            (std::vector<std::string>{"alpha/baseline", "alpha/tma", "alpha/vendor",
                                      "beta/baseline", "beta/dsm"}));
  EXPECT_TRUE(all.microbenchmarks.empty());
}

TEST(Selection, VariantsStandUnderTheirAppAndOtherAppsAreLeftOut) {
  const Selection chosen = select({"beta/dsm"});
  ASSERT_EQ(chosen.apps.size(), 1u);
  EXPECT_EQ(chosen.apps[0].app->name(), "beta");
  EXPECT_EQ(names(chosen.apps), std::vector<std::string>{"beta/dsm"});
}

TEST(Selection, APatternThatMatchesNoVariantMeansMicrobenchmarks) {
  const Selection chosen = select({"*/tma", "memory"});
  EXPECT_EQ(names(chosen.apps), std::vector<std::string>{"alpha/tma"});
  ASSERT_EQ(chosen.microbenchmarks.size(), 1u);
  EXPECT_EQ(chosen.microbenchmarks[0]->name, "memory/steps");
}

TEST(Selection, WhatMatchesNothingIsAnsweredWithTheNearestNames) {
  EXPECT_TRUE(contains(message_of<UsageError>([] { select({"alpha/tme"}); }), "alpha/tma"));
  EXPECT_THROW(select_apps({"memory"}), UsageError) << "tune and verify work on apps";
}

}  // namespace
}  // namespace amasia
