
#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "harness/plan/study.hpp"
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

TEST(Reproduction, AsksForThePointsThatRowsTakeAndForAllWhereARowTakesAll) {
  const auto points = [](InventoryRow r, std::map<std::string, std::vector<Coordinates>> taken) {
    r.points = std::move(taken);
    return r;
  };
  const Coordinates l1{{"level", "l1"}}, l2{{"level", "l2"}};
  const InventoryRow of_l1 = points(row("1", {"memory/latency"}), {{"memory/latency", {l1}}}),
                     of_l2 = points(row("2", {"memory/latency"}), {{"memory/latency", {l2}}}),
                     finding = points(row("3", {"memory/latency"}), {{"memory/latency", {}}});
  EXPECT_EQ(points_of({of_l1, of_l2}).at("memory/latency"), (std::vector<Coordinates>{l1, l2}));
  EXPECT_TRUE(points_of({of_l1, finding}).empty());
  EXPECT_TRUE(points_of({of_l1, row("4", {"memory/latency"})}).empty());
}

TEST(Reproduction, TakesFromTheInventoryWhatItNames) {
  // 40.7 cycles of the L1 are those of two chases, among many.
  const auto only = points_of(inventory_rows("000-04"));
  ASSERT_EQ(only.at("memory/latency").size(), 2u);
  EXPECT_EQ(only.at("memory/latency")[0].front().first, "method");
  EXPECT_EQ(points_of(inventory_rows("000-21")).at("tensor_core/wgmma").size(), 12u);
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
