#include "harness/plan/campaign.hpp"

#include "harness/errors.hpp"
#include "harness/plan/selection.hpp"
#include "harness/plan/study.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/test.hpp"

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
                        register_microbenchmark(question_to_plan("memory/latency")) &&
                        register_microbenchmark(question_to_plan("dsm/steps")) &&
                        register_microbenchmark(with_traits("twins/any"));

Campaign plan_of(const CampaignRequest& request) {
  return plan_campaign(request, cases_of(request), TuningTable{}, "GPU A");
}

std::vector<std::string> keys(const std::vector<PlannedGroup>& groups) {
  std::vector<std::string> all;
  for (const PlannedGroup& g : groups) all.push_back(g.key.to_string());
  return all;
}

InventoryRow row(const std::string& id, std::vector<std::string> by) {
  InventoryRow r;
  r.id = id;
  r.by = std::move(by);
  return r;
}

CampaignRequest both_modes() {
  return {.patterns = {"alpha"},
          .sizes = {.otherwise = Preset::paper},  // two sizes
          .caches = {CacheMode::hot, CacheMode::cold},
          .launches = {LaunchMode::stream, LaunchMode::graph}};
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
  request.patterns = {"alpha", "memory/st*"};
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

TEST(Campaign, MeasuresCeilingsWhereThereAreGroupsOrADocumentAsksForThem) {
  CampaignRequest request{.patterns = {"alpha"}};
  EXPECT_TRUE(plan_of(request).ceilings);
  request.patterns = {"memory/steps"};
  EXPECT_FALSE(plan_of(request).ceilings);
  request.patterns.clear();
  request.inventory = {row("", {"ceilings"})};
  const Campaign only_ceilings = plan_of(request);
  EXPECT_TRUE(only_ceilings.ceilings);
  EXPECT_TRUE(only_ceilings.groups.empty()) << "no pattern of a document is not every variant";
}

TEST(Campaign, AsksMicrobenchmarksInFullAtThePapersSizesOnly) {
  CampaignRequest request{.patterns = {"memory/steps"}};
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
  CampaignRequest request{.patterns = {"twins/any"}};
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
  EXPECT_EQ(planned_points(plan.microbenchmarks.front(), device).size(), 5u);
  const double ceilings = 10;
  EXPECT_DOUBLE_EQ(everything,
                   ceilings + groups + expected_seconds(plan.microbenchmarks.front(), 5));
  EXPECT_DOUBLE_EQ(expected_seconds(plan, std::nullopt), ceilings + groups);
  device.free_bytes = 800;  // the second size does not fit
  EXPECT_LT(expected_seconds(plan, device), everything - groups / 2 + 1e-9);
}

using Names = std::vector<std::string>;

Names names(const std::vector<SelectedApp>& selected) {
  Names all;
  for (const SelectedApp& s : selected) {
    for (const Variant* v : s.variants) all.push_back(v->name());
  }
  return all;
}

TEST(Selection, VariantsByPatternInRegistryOrderWithoutRepeats) {
  const Names all{"alpha/baseline", "alpha/tma", "alpha/vendor", "beta/baseline", "beta/dsm"};
  const std::pair<Names, Names> cases[] = {
      {{}, all},
      {{"beta"}, {"beta/baseline", "beta/dsm"}},
      {{"*/tma"}, {"alpha/tma"}},
      {{"beta/dsm", "alpha/v*", "*/dsm"}, {"alpha/vendor", "beta/dsm"}},
      {{"*"}, all}};
  for (const auto& [patterns, expected] : cases) {
    EXPECT_EQ(names(select_apps(patterns)), expected);
    EXPECT_EQ(names(select(patterns).apps), expected);
    EXPECT_TRUE(select(patterns).microbenchmarks.empty());
  }
  ASSERT_EQ(select({"beta/dsm"}).apps.size(), 1u) << "other apps are left out";
}

TEST(Selection, APatternThatMatchesNoVariantMeansMicrobenchmarks) {
  for (const char* pattern : {"dsm", "dsm/*", "microbench/dsm/steps"}) {
    const Selection chosen = select({"*/tma", pattern});
    EXPECT_EQ(names(chosen.apps), Names{"alpha/tma"});
    ASSERT_EQ(chosen.microbenchmarks.size(), 1u);
    EXPECT_EQ(chosen.microbenchmarks[0]->name, "dsm/steps");
  }
}

const AppToPlan app_of_sizes("alpha");

Device device_with(std::size_t free_bytes) {
  Device d;
  d.free_bytes = free_bytes;
  return d;
}

TEST(Sizes, ThatDoNotFitAreRefusedOnlyWhenGivenOneByOne) {
  CampaignRequest request;
  request.sizes.given = {"n=100"};
  const std::vector<AppCases> cases{{&app_of_sizes, {}, sizes_of(app_of_sizes, request.sizes, 1)}};
  EXPECT_NO_THROW(refuse_too_large(cases, request, device_with(800)));
  const std::string error =
      message_of<UsageError>([&] { refuse_too_large(cases, request, device_with(799)); });
  EXPECT_TRUE(contains(error, "800 bytes"));
  EXPECT_TRUE(contains(error, "799 are available"));
  EXPECT_NO_THROW(refuse_too_large(cases, {}, device_with(1)));
}

TEST(Reproduction, TakesWhatIsBuiltOnce) {
  EXPECT_EQ(patterns_of({row("1", {"app alpha", "memory/latency"}), row("2", {"app alpha"}),
                         row("3", {"memory/not-here"}), row("4", {"app not-here"})}),
            (std::vector<std::string>{"alpha", "memory/latency"}));
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

TEST(Reproduction, IsTheWholeQuestionAtThePapersSizes) {
  CampaignRequest request{.caches = {}, .launches = {}};
  ask_for(request, {row("1", {"app alpha"})}, {.seconds = 3});
  EXPECT_EQ(request.sizes.effective_preset(), Preset::paper);
  EXPECT_EQ(request.patterns, std::vector<std::string>{"alpha"});
  EXPECT_EQ(request.caches, std::vector<CacheMode>{CacheMode::cold});
  EXPECT_EQ(request.launches, std::vector<LaunchMode>{LaunchMode::stream});
  EXPECT_EQ(request.effort.seconds, 3);
  EXPECT_EQ(request.inventory.size(), 1u);
}

TEST(StudyRequest, IsTheStudysOwnWhereNothingWasAskedFor) {
  CampaignRequest request{.caches = {}};
  ask_for(request, find_study("paper"), {.max_rounds = 21});
  EXPECT_EQ(request.sizes.effective_preset(), Preset::paper);
  EXPECT_EQ(request.caches, (std::vector<CacheMode>{CacheMode::cold, CacheMode::hot}));
  EXPECT_EQ(request.launches, std::vector<LaunchMode>{LaunchMode::stream});
  EXPECT_EQ(request.effort.max_rounds, 21);
  EXPECT_EQ(request.effort.seconds, find_study("paper").effort.seconds);
  EXPECT_TRUE(request.effort.energy);
}

}  // namespace
}  // namespace amasia
