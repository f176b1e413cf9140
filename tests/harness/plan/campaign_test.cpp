#include "harness/plan/campaign.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/errors.hpp"
#include "tests/harness/plan/planned_apps.hpp"

namespace amasia {
namespace {

Microbenchmark with_traits(const std::string& name) {
  Microbenchmark m = question_to_plan(name);
  m.asked = [own = m.points](const Device& device, const Coordinates& traits) {
    if (value_of(traits, "rows") == "0") throw UsageError("a tile has rows");
    std::vector<Point> points = own(device, Scope::quick);
    for (Point& p : points) p.at.insert(p.at.end(), traits.begin(), traits.end());
    return points;
  };
  return m;
}

const bool registered = register_apps_to_plan() &&
                        register_microbenchmark(question_to_plan("memory/steps")) &&
                        register_microbenchmark(question_to_plan("memory/strides")) &&
                        register_microbenchmark(with_traits("twins/any"));

Campaign plan_of(const CampaignRequest& request) {
  return plan_campaign(request, cases_of(request), TuningTable{}, "GPU A");
}

std::vector<std::string> keys(const std::vector<PlannedGroup>& groups) {
  std::vector<std::string> all;
  for (const PlannedGroup& g : groups) all.push_back(g.key.to_string());
  return all;
}

CampaignRequest both_modes() {
  CampaignRequest request;
  request.patterns = {"alpha"};
  request.sizes.otherwise = Preset::paper;  // two sizes
  request.caches = {CacheMode::hot, CacheMode::cold};
  request.launches = {LaunchMode::stream, LaunchMode::graph};
  return request;
}

TEST(Campaign, IsEverySizeUnderEveryCacheAndLaunchModeInOrder) {
  EXPECT_EQ(keys(plan_of(both_modes()).groups),
            (std::vector<std::string>{"alpha n=100 hot stream", "alpha n=100 hot graph",
                                      "alpha n=100 cold stream", "alpha n=100 cold graph",
                                      "alpha n=200 hot stream", "alpha n=200 hot graph",
                                      "alpha n=200 cold stream", "alpha n=200 cold graph"}));
}

TEST(Campaign, MeasuresEnergyOncePerSizeInTheHottestGroup) {
  CampaignRequest request = both_modes();
  request.effort.energy = true;
  const auto with_energy = [&] {
    std::vector<PlannedGroup> groups = plan_of(request).groups;
    std::erase_if(groups, [](const PlannedGroup& g) { return !g.effort.energy; });
    return keys(groups);
  };
  EXPECT_EQ(with_energy(),
            (std::vector<std::string>{"alpha n=100 hot graph", "alpha n=200 hot graph"}));
  request.caches = {CacheMode::cold};  // no hot group: the last cache mode takes it
  EXPECT_EQ(with_energy(),
            (std::vector<std::string>{"alpha n=100 cold graph", "alpha n=200 cold graph"}));
}

TEST(Campaign, ShardsAreDisjointAndTogetherTheWhole) {
  CampaignRequest request = both_modes();
  request.patterns = {"alpha", "memory/*"};
  const Campaign whole = plan_of(request);
  std::multiset<std::string> groups, micro;
  for (int i = 1; i <= 3; ++i) {
    request.shard = Shard{i, 3};
    const Campaign part = plan_of(request);
    for (const std::string& key : keys(part.groups)) groups.insert(key);
    for (const auto& m : part.microbenchmarks) micro.insert(m.name);
  }
  const auto all = keys(whole.groups);
  EXPECT_EQ(groups, std::multiset<std::string>(all.begin(), all.end()));
  EXPECT_EQ(micro, (std::multiset<std::string>{"memory/steps", "memory/strides"}));
}

/// A file that holds the first groups and microbenchmarks of the plan.
ResultFile first_of(const Campaign& plan, std::size_t groups, std::size_t microbenchmarks) {
  ResultFile file;
  for (std::size_t i = 0; i < groups; ++i) {
    file.groups.emplace_back();
    file.groups.back().key = plan.groups[i].key;
  }
  for (std::size_t i = 0; i < microbenchmarks; ++i) {
    file.microbenchmarks.emplace_back();
    file.microbenchmarks.back().name = plan.microbenchmarks[i].name;
  }
  return file;
}

TEST(Campaign, LeavesOutWhatFilesHoldOfIt) {
  CampaignRequest request = both_modes();
  request.patterns = {"alpha", "memory/*"};
  const Campaign whole = plan_of(request);
  Campaign rest = whole;
  leave_out(rest, {first_of(whole, 3, 0), first_of(whole, 1, 1)});
  const auto all = keys(whole.groups);
  EXPECT_EQ(keys(rest.groups), std::vector<std::string>(all.begin() + 3, all.end()));
  ASSERT_EQ(rest.microbenchmarks.size(), 1u);
  EXPECT_EQ(rest.microbenchmarks[0].name, whole.microbenchmarks[1].name);
  EXPECT_TRUE(rest.ceilings);

  ResultFile everything = first_of(whole, whole.groups.size(), 2);
  leave_out(rest, {everything});
  EXPECT_TRUE(rest.groups.empty() && rest.microbenchmarks.empty());
  EXPECT_TRUE(rest.ceilings) << "nobody has measured them";
  everything.ceilings.emplace_back();
  leave_out(rest, {everything});
  EXPECT_FALSE(rest.ceilings);
}

TEST(Campaign, TakesPartsFromAnyGpuOfTheModelButOfNoOtherCampaign) {
  ResultFile file;
  file.provenance.device.name = "GPU A";
  file.provenance.device.uuid_hash = "one";
  file.provenance.settings = {{"seed", "1"}, {"shard", "1/2"}};
  Provenance now = file.provenance;
  now.device.uuid_hash = "two";
  now.settings["shard"] = "2/2";
  EXPECT_NO_THROW(check_parts({file}, {"a.json"}, now));
  now.settings["seed"] = "2";
  EXPECT_THROW(check_parts({file}, {"a.json"}, now), ResultError);
  now = file.provenance;
  now.device.name = "GPU B";
  EXPECT_THROW(check_parts({file}, {"a.json"}, now), ResultError);
}

TEST(Campaign, CarriesSeedEffortAndPresetIntoEachGroup) {
  CampaignRequest request = both_modes();
  request.seed = 7;
  request.effort.max_rounds = 33;
  for (const PlannedGroup& g : plan_of(request).groups) {
    EXPECT_EQ(g.seed, 7u);
    EXPECT_EQ(g.effort.max_rounds, 33);
    EXPECT_EQ(g.preset, Preset::paper);
  }
  request.sizes = {};
  request.sizes.given = {"n=5"};
  for (const PlannedGroup& g : plan_of(request).groups) EXPECT_FALSE(g.preset.has_value());
}

TEST(Campaign, MeasuresCeilingsWhereThereAreGroupsOrADocumentAsksForThem) {
  CampaignRequest request;
  request.patterns = {"alpha"};
  EXPECT_TRUE(plan_of(request).ceilings);
  request.patterns = {"memory/steps"};
  EXPECT_FALSE(plan_of(request).ceilings);
  InventoryRow row;
  row.by = {"ceilings"};
  request.patterns.clear();
  request.inventory = {row};
  const Campaign only_ceilings = plan_of(request);
  EXPECT_TRUE(only_ceilings.ceilings);
  EXPECT_TRUE(only_ceilings.groups.empty()) << "no pattern of a document is not every variant";
}

TEST(Campaign, AsksMicrobenchmarksInFullAtThePapersSizesOnly) {
  CampaignRequest request;
  request.patterns = {"memory/steps"};
  request.effort.max_rounds = 3;
  request.point_seconds = 0.25;
  request.only["memory/steps"] = {{{"i", "1"}}};
  PlannedMicrobenchmark m = plan_of(request).microbenchmarks.at(0);
  EXPECT_EQ(m.scope, Scope::quick);
  EXPECT_EQ(m.effort.seconds, 0.25);
  EXPECT_EQ(m.effort.max_samples, m.effort.min_samples) << "never below the least";
  EXPECT_EQ(m.only.size(), 1u);
  for (const Preset preset : {Preset::paper, Preset::sweep}) {
    request.sizes.preset = preset;
    EXPECT_EQ(plan_of(request).microbenchmarks.at(0).scope, Scope::full);
  }
}

TEST(Campaign, HandsTraitsToAMicrobenchmarkThatTakesAny) {
  CampaignRequest request;
  request.patterns = {"twins/any"};
  EXPECT_TRUE(plan_of(request).microbenchmarks.at(0).asked.empty());
  request.traits = {"rows=3,layout=box", "rows=4"};
  const auto asked = plan_of(request).microbenchmarks.at(0).asked;
  ASSERT_EQ(asked.size(), 2u);
  EXPECT_EQ(value_of(asked[0], "layout"), "box");
  EXPECT_EQ(value_of(asked[1], "rows"), "4");
  for (const char* bad : {"", "rows", "=3", "rows=3,rows=4", "rows=0", "rows=0,layout=box"}) {
    request.traits = {bad};
    EXPECT_THROW(plan_of(request), UsageError) << bad;
  }
  request.traits = {"rows=3"};
  for (const char* other : {"memory/steps", "alpha"}) {
    request.patterns = {other};
    EXPECT_THROW(plan_of(request), UsageError) << other;
  }
}

TEST(Search, TriesEveryConfigInEveryMode) {
  CampaignRequest request = both_modes();
  request.patterns = {"alpha/tma", "alpha/vendor"};
  const auto groups = plan_search(request, app_cases_of(request));
  ASSERT_EQ(groups.size(), 8u);
  for (const PlannedGroup& g : groups) {
    EXPECT_EQ(g.rows.size(), 6u);  // two variants, three configs each
    EXPECT_FALSE(g.effort.verify_only);
    for (const PlannedRow& row : g.rows) EXPECT_EQ(row.role, Role::candidate);
  }
}

TEST(Verification, RunsEverySizeOnceAndTimesNothing) {
  CampaignRequest request = both_modes();
  request.seed = 9;
  const auto groups = plan_verification(request, app_cases_of(request));
  EXPECT_EQ(keys(groups),
            (std::vector<std::string>{"alpha n=100 cold stream", "alpha n=200 cold stream"}));
  for (const PlannedGroup& g : groups) {
    EXPECT_TRUE(g.effort.verify_only);
    EXPECT_EQ(g.seed, 9u);
    EXPECT_EQ(g.rows.size(), 9u);
  }
}

TEST(Expectation, CountsWhatFitsAndWhatIsKnown) {
  CampaignRequest request = both_modes();
  request.patterns = {"alpha", "memory/steps"};
  const Campaign plan = plan_of(request);
  EXPECT_EQ(device_bytes(plan.groups.front()), 800);
  Device device;
  device.free_bytes = 1 << 20;
  const double everything = expected_seconds(plan, device);
  double groups = 0;
  for (const PlannedGroup& g : plan.groups) groups += expected_seconds(g);
  EXPECT_EQ(expected_points(plan.microbenchmarks.front(), device), 5u);
  const double ceilings = 10;
  EXPECT_DOUBLE_EQ(everything,
                   ceilings + groups + expected_seconds(plan.microbenchmarks.front(), 5));
  EXPECT_DOUBLE_EQ(expected_seconds(plan, std::nullopt), ceilings + groups);
  device.free_bytes = 800;  // the second size does not fit
  EXPECT_LT(expected_seconds(plan, device), everything - groups / 2 + 1e-9);
}

}  // namespace
}  // namespace amasia
