#include "harness/plan/reproduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/errors.hpp"
#include "harness/plan/study.hpp"
#include "harness/published/comparisons.hpp"
#include "harness/published/selectors.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

const bool registered =
    register_apps_to_plan() && register_microbenchmark(question_to_plan("memory/latency"));

InventoryRow row(const std::string& id, std::vector<std::string> by) {
  InventoryRow r;
  r.id = id;
  r.by = std::move(by);
  return r;
}

TEST(Reproduction, TakesWhatIsBuiltOnce) {
  EXPECT_EQ(patterns_of({row("1", {"app alpha", "memory/latency"}), row("2", {"app alpha"}),
                         row("3", {"memory/not-here"}), row("4", {"app not-here"})}),
            (std::vector<std::string>{"alpha", "memory/latency"}));
}

TEST(Reproduction, TellsWhatIsNotBuiltFromWhatCannotBeMeasured) {
  EXPECT_EQ(reproducible({row("1", {}), row("2", {"app alpha"})}), Reproducible::yes);
  EXPECT_EQ(reproducible({row("1", {}), row("2", {"memory/not-here"})}), Reproducible::not_built);
  EXPECT_EQ(reproducible({row("1", {}), row("2", {})}), Reproducible::nothing_to);
}

TEST(Reproduction, AsksForThePointsThatAreComparedAndForAllWhereAFindingIs) {
  // Taken from the comparisons themselves: every row of the documents is held against them.
  for (const InventoryRow& r : inventory()) {
    const auto only = points_of({r});
    bool compared = false;
    for (const PublishedComparison& c : published_comparisons()) {
      if (c.id != r.id) continue;
      compared = true;
      for (const Selector& s : parse_selectors(c.own)) {
        if (s.kind != Selector::Kind::point || only.count(s.name) == 0) continue;
        const auto& points = only.at(s.name);
        EXPECT_NE(std::find(points.begin(), points.end(), s.at), points.end()) << r.id;
      }
      for (const Selector& s : parse_selectors(c.own)) {
        if (s.kind == Selector::Kind::finding) {
          EXPECT_EQ(only.count(s.name), 0u) << r.id;
        }
      }
    }
    if (!compared) {
      EXPECT_TRUE(only.empty()) << r.id;
    }
  }
}

TEST(Reproduction, IsTheWholeQuestionAtThePapersSizes) {
  CampaignRequest request;
  request.caches.clear();
  request.launches.clear();
  EffortAsked asked;
  asked.seconds = 3;
  ask_for(request, {row("1", {"app alpha"})}, asked);
  EXPECT_EQ(request.sizes.effective_preset(), Preset::paper);
  EXPECT_EQ(request.patterns, std::vector<std::string>{"alpha"});
  EXPECT_EQ(request.caches, std::vector<CacheMode>{CacheMode::cold});
  EXPECT_EQ(request.launches, std::vector<LaunchMode>{LaunchMode::stream});
  EXPECT_EQ(request.effort.seconds, 3);
  EXPECT_EQ(request.inventory.size(), 1u);
}

TEST(Reproduction, TakesNoPatterns) {
  CampaignRequest request;
  request.study = "seed000";
  request.patterns = {"alpha"};
  EXPECT_TRUE(contains(message_of<UsageError>([&] { ask_for(request, {row("1", {})}, {}); }),
                       "takes no patterns"));
}

TEST(StudyRequest, IsTheStudysOwnWhereNothingWasAskedFor) {
  CampaignRequest request;
  request.caches.clear();
  request.launches = {LaunchMode::stream};
  EffortAsked asked;
  asked.max_rounds = 21;
  ask_for(request, find_study("paper"), asked);
  EXPECT_EQ(request.sizes.effective_preset(), Preset::paper);
  EXPECT_EQ(request.caches, (std::vector<CacheMode>{CacheMode::cold, CacheMode::hot}));
  EXPECT_EQ(request.launches, std::vector<LaunchMode>{LaunchMode::stream});
  EXPECT_EQ(request.effort.max_rounds, 21);
  EXPECT_EQ(request.effort.seconds, find_study("paper").effort.seconds);
  EXPECT_TRUE(request.effort.energy);
}

}  // namespace
}  // namespace amasia
