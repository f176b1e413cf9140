#include "harness/plan/selection.hpp"

#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

const bool registered =
    register_apps_to_plan() && register_microbenchmark(question_to_plan("memory/steps"));

using Names = std::vector<std::string>;

Names names(const std::vector<SelectedApp>& selected) {
  Names all;
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

TEST(Selection, VariantsByPatternInRegistryOrderWithoutRepeats) {
  const std::pair<Names, Names> cases[] = {
      {{"beta"}, {"beta/baseline", "beta/dsm"}},
      {{"*/tma"}, {"alpha/tma"}},
      {{"beta/dsm", "alpha/v*", "*/dsm"}, {"alpha/vendor", "beta/dsm"}},
      {{"*"}, names(select({}).apps)}};
  for (const auto& [patterns, expected] : cases) {
    EXPECT_EQ(names(select_apps(patterns)), expected);
    EXPECT_EQ(names(select(patterns).apps), expected);
  }
  ASSERT_EQ(select({"beta/dsm"}).apps.size(), 1u) << "other apps are left out";
}

TEST(Selection, APatternThatMatchesNoVariantMeansMicrobenchmarks) {
  for (const char* pattern : {"memory", "memory/*", "microbench/memory/steps"}) {
    const Selection chosen = select({"*/tma", pattern});
    EXPECT_EQ(names(chosen.apps), Names{"alpha/tma"});
    ASSERT_EQ(chosen.microbenchmarks.size(), 1u);
    EXPECT_EQ(chosen.microbenchmarks[0]->name, "memory/steps");
  }
}

TEST(Selection, WhatMatchesNothingIsAnsweredWithTheNearestNames) {
  const std::pair<const char*, const char*> cases[] = {
      {"alhpa", "'alhpa' matches no variant and no microbenchmark: did you mean alpha"},
      {"alpha/tme", "did you mean alpha/tma"},
      {"vendor", "did you mean */vendor"},
      {"memory/step", "memory/steps"}};
  for (const auto& [pattern, error] : cases) {
    EXPECT_TRUE(
        contains(message_of<UsageError>([&, &pattern = pattern] { select({pattern}); }), error));
  }
  EXPECT_THROW(select_apps({"memory"}), UsageError) << "tune and verify work on apps";
}

}  // namespace
}  // namespace amasia
