#include "harness/plan/plan.hpp"

#include "harness/errors.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/plan/selection.hpp"
#include "harness/registry.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

class ScheduledApp : public AppToPlan {
 public:
  using AppToPlan::AppToPlan;
  std::vector<Schedule> schedules() const override {
    return {{"iso", "the original"}, {"wide", "another"}};
  }
};

Variant variant(const std::string& strategy, bool comparator = false, const char* app = "planned") {
  Variant v = variant_to_plan(app, strategy, comparator);
  v.configs.pop_back();
  for (Config& c : v.configs) {
    if (v.app == "scheduled") c.info.schedule = c.info.name;
  }
  return v;
}

Variant spelling() {
  Variant v = variant("cuda_barrier", true, "spelled");
  v.spells = "tma";
  return v;
}

const bool registered =
    register_app(std::make_unique<AppToPlan>("planned")) && register_variant(variant("baseline")) &&
    register_variant(variant("tma")) && register_variant(variant("dsm")) &&
    register_variant(variant("vendor", true)) &&
    register_app(std::make_unique<ScheduledApp>("scheduled")) &&
    register_variant(variant("baseline", false, "scheduled")) &&
    register_variant(variant("tma", false, "scheduled")) &&
    register_variant(variant("vendor", true, "scheduled")) &&
    register_app(std::make_unique<AppToPlan>("spelled")) &&
    register_variant(variant("baseline", false, "spelled")) &&
    register_variant(variant("tma", false, "spelled")) && register_variant(spelling());

std::vector<PlannedRow> rows_for(const std::vector<std::string>& patterns,
                                 const std::vector<Role>& roles, const char* of = "planned") {
  const App* app = find_app(of);
  const GroupKey key{of, app->sizes(Preset::quick).front(), CacheMode::cold, LaunchMode::graph};
  std::vector<const Variant*> selected;
  for (const SelectedApp& a : select_apps(patterns)) {
    selected.insert(selected.end(), a.variants.begin(), a.variants.end());
  }
  return comparison_rows(key, selected, roles, TuningTable{}, "GPU A");
}

std::multiset<std::string> names(const std::vector<PlannedRow>& rows) {
  std::multiset<std::string> all;
  for (const PlannedRow& r : rows) {
    all.insert(r.variant + " " + std::string(word_of(r.role)) + (r.repeat > 0 ? " again" : ""));
  }
  return all;
}

TEST(Plan, HasTheBaselineAndItsControlEvenWhenNotSelected) {
  EXPECT_EQ(names(rows_for({"planned/tma"}, {Role::iso, Role::best})),
            (std::multiset<std::string>{"planned/baseline iso", "planned/baseline iso again",
                                        "planned/baseline best", "planned/baseline best again",
                                        "planned/tma iso", "planned/tma best"}));
}

TEST(Plan, TakesAComparatorOnce) {
  const auto rows = rows_for({"planned"}, {Role::iso, Role::best});
  EXPECT_EQ(names(rows).count("planned/vendor comparator"), 1u);
  EXPECT_EQ(rows.size(), 9u);
}

TEST(Plan, MatchesEachStrategyWithTheBaselineBothWaysAfterTheirBestRows) {
  const auto rows = rows_for({"scheduled/tma"}, {Role::best, Role::matched}, "scheduled");
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[3].variant, "scheduled/baseline");
  EXPECT_EQ(rows[3].role, Role::matched);
  EXPECT_EQ(rows[3].matches, "scheduled/tma");
  EXPECT_EQ(rows[4].variant, "scheduled/tma");
  EXPECT_EQ(rows[4].matches, "scheduled/baseline");
  // Nothing to match without best rows, and in an app whose configs are not divided.
  EXPECT_EQ(rows_for({"scheduled/tma"}, {Role::iso, Role::matched}, "scheduled").size(), 3u);
  EXPECT_EQ(rows_for({"planned/tma"}, {Role::best, Role::matched}).size(), 3u);
}

TEST(Plan, HasTheCounterpartOfASpellingEvenWhenItsStrategyIsNotSelected) {
  const std::vector<Role> all{Role::iso, Role::best, Role::matched};
  const auto rows = rows_for({"spelled/cuda_barrier"}, all, "spelled");
  EXPECT_EQ(names(rows), (std::multiset<std::string>{
                             "spelled/baseline iso", "spelled/baseline iso again",
                             "spelled/baseline best", "spelled/baseline best again",
                             "spelled/cuda_barrier comparator", "spelled/tma counterpart"}));
  EXPECT_EQ(rows.back().matches, "spelled/cuda_barrier");
  EXPECT_EQ(names(rows_for({"spelled/tma"}, all, "spelled")).count("spelled/tma counterpart"), 0u);
  EXPECT_EQ(names(rows_for({"spelled"}, {Role::iso, Role::best}, "spelled"))
                .count("spelled/tma counterpart"),
            0u);
}

TEST(Effort, WhatIsAskedForOutweighsWhatIsOwn) {
  const Effort own{.max_rounds = 41, .seconds = 4, .patience = 8};
  EXPECT_EQ(effort_of({}, own).patience, 8);
  EffortAsked asked{.seconds = 9.5, .precision = 0.01, .confidence = 0.9, .energy = true};
  const Effort e = effort_of(asked, own);
  EXPECT_EQ(e.max_rounds, 41);
  EXPECT_EQ(e.min_rounds, own.min_rounds);
  EXPECT_EQ(e.seconds, 9.5);
  EXPECT_EQ(e.patience, 1) << "a cap that is asked for is not exceeded";
  EXPECT_EQ(e.precision, 0.01);
  EXPECT_EQ(e.confidence, 0.9);
  EXPECT_TRUE(e.energy);
  asked.max_rounds = 5;
  EXPECT_EQ(effort_of(asked, own).min_rounds, 5) << "a cap below the least number lowers that";
}

}  // namespace
}  // namespace amasia
