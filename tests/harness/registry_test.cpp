#include "harness/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

#include "harness/ceiling.hpp"
#include "harness/results/provenance.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

class NamedApp : public App {
 public:
  explicit NamedApp(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "an app of the tests"; }
  const std::vector<ParameterSpec>& parameters() const override { return parameters_; }
  std::vector<Parameters> sizes(Preset) const override { return {}; }
  Work work(const Parameters&) const override { return {}; }
  std::int64_t device_bytes(const Parameters&) const override { return 0; }
  Verdict check_reference(const Parameters&, std::uint64_t) const override { return {}; }

 private:
  std::string name_;
  std::vector<ParameterSpec> parameters_;
};

Variant variant(const std::string& app, const std::string& strategy, bool comparator = false) {
  Variant v;
  v.app = app;
  v.strategy = strategy;
  v.comparator = comparator;
  Config config;
  config.info.name = "iso";
  v.configs.push_back(config);
  return v;
}

CeilingProbe probe(const std::string& name) { return {name, "GB/s", "copies", true, 0, {}}; }

/// Registered out of order, as a linker may do it.
const bool registered = [] {
  for (const char* app : {"zeta", "alpha", "mu"}) register_app(std::make_unique<NamedApp>(app));
  register_variant(variant("zeta", "tma"));
  register_variant(variant("alpha", "vendor", true));
  register_variant(variant("alpha", "cub", true));
  std::vector<std::string> strategies;
  for (const StrategyTraits& traits : strategy_traits) strategies.emplace_back(traits.name);
  std::shuffle(strategies.begin(), strategies.end(), std::mt19937(7));
  for (const std::string& strategy : strategies) register_variant(variant("alpha", strategy));
  register_variant(variant("zeta", "baseline"));
  for (const char* name : {"write_bandwidth", "copy_bandwidth", "fp32_rate"}) {
    register_ceiling(probe(name));
  }
  register_instance_factory(
      "alpha", [](const Parameters&, std::uint64_t) { return std::unique_ptr<Instance>(); });
  return true;
}();

std::vector<std::string> names(const std::vector<const Variant*>& list) {
  std::vector<std::string> result;
  for (const Variant* v : list) result.push_back(v->name());
  return result;
}

using Names = std::vector<std::string>;

TEST(Registry, IsInNameOrderAndVariantsByAppThenStrategyThenComparators) {
  Names names_of_apps, names_of_ceilings;
  for (const App* app : apps()) names_of_apps.emplace_back(app->name());
  for (const CeilingProbe& p : ceiling_probes()) names_of_ceilings.push_back(p.name);
  EXPECT_EQ(names_of_apps, (Names{"alpha", "mu", "zeta"}));
  EXPECT_EQ(names_of_ceilings, (Names{"copy_bandwidth", "fp32_rate", "write_bandwidth"}));
  EXPECT_EQ(names(variants()), (Names{"alpha/baseline", "alpha/register_bypass", "alpha/overlap",
                                      "alpha/drop_off", "alpha/tma", "alpha/dsm", "alpha/cub",
                                      "alpha/vendor", "zeta/baseline", "zeta/tma"}));
  EXPECT_EQ(names(variants_of("zeta")), (Names{"zeta/baseline", "zeta/tma"}));
  EXPECT_TRUE(variants_of("mu").empty());
}

TEST(Registry, AnAppOutsideTheTreeBringsItsDigests) {
  const std::string known = source_digest("hotspot/tma");
  ASSERT_FALSE(registered_source_digests().empty());  // as below, before main()
  EXPECT_EQ(source_digest("outside/tma"), "0123");
  EXPECT_EQ(source_digests().at("outside/tma"), "0123");
  // A variant whose file is not named after it has that of the whole app.
  EXPECT_EQ(source_digest("outside/other"), "4567");
  EXPECT_EQ(source_digests().count("outside"), 0u);
  EXPECT_EQ(source_digest("elsewhere/tma"), "");
  EXPECT_EQ(source_digest("hotspot/tma"), known);
}

const bool digests_registered =
    register_source_digests({{"outside/tma", "0123"}, {"outside", "4567"}});

/// These come last, since they register more. The new messages about what `act` registers.
Names said(const std::function<void()>& act) {
  Names before = registration_mistakes();
  act();
  Names after = registration_mistakes(), fresh;
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(fresh));
  return fresh;
}

TEST(RegistrationMistakes, WhatIsRegisteredTwiceIsNamedWithBothPlaces) {
  const SourceLine first{"/home/me/mine/one.cu", 7}, second{"/home/me/mine/two.cu", 8};
  ASSERT_TRUE(said([&] {
                register_app(std::make_unique<NamedApp>("twofold"), first);
                register_variant(variant("twofold", "tma"), first);
                register_variant(variant("twofold", "dsm"), first);
                register_instance_factory("twofold", {}, first);
              }).empty());
  EXPECT_EQ(registration_mistake("twofold/tma"), "");
  const Names twice = said([&] { register_variant(variant("twofold", "tma"), second); });
  ASSERT_EQ(twice.size(), 1u);
  EXPECT_EQ(twice[0],
            "twofold/tma is registered twice, at mine/one.cu:7 and at mine/two.cu:8: one of them "
            "has to go");
  EXPECT_EQ(registration_mistake("twofold/tma"), twice[0]);
  EXPECT_EQ(registration_mistake("twofold/dsm"), "") << "the others go on";
  EXPECT_EQ(variants_of("twofold").size(), 2u);

  const Names factories = said([&] { register_instance_factory("twofold", {}, second); });
  ASSERT_EQ(factories.size(), 1u);
  EXPECT_TRUE(contains(factories[0], "twofold has its instances made twice, at mine/one.cu:7"));
  EXPECT_EQ(registration_mistake("twofold/dsm"), factories[0]) << "of which one cannot be known";
  const Names apps = said([&] { register_app(std::make_unique<NamedApp>("twofold"), second); });
  ASSERT_EQ(apps.size(), 1u);
  EXPECT_TRUE(contains(apps[0], "mine/two.cu:8"));
  EXPECT_TRUE(contains(registration_mistake("twofold/dsm"), "; "));
}

TEST(RegistrationMistakes, WhatCannotBeRunIsNamed) {
  const SourceLine place{"mine/odd.cu", 5};
  const auto of = [&](Variant v) {
    const Names sentences = said([&] { register_variant(std::move(v), place); });
    return sentences.size() == 1 ? sentences[0] : fmt::format("{} sentences", sentences.size());
  };
  register_app(std::make_unique<NamedApp>("odd"), place);
  EXPECT_EQ(of(variant("odd", "fast")),
            "odd/fast is registered with a strategy that there is not, 'fast' (mine/odd.cu:5)");
  Variant odd = variant("odd", "tma");
  odd.configs.clear();
  EXPECT_TRUE(contains(of(odd), "odd/tma is registered without a config"));
  EXPECT_EQ(find_variant("odd/tma"), nullptr);
  odd = variant("odd", "dsm");
  odd.configs.push_back(odd.configs.front());
  EXPECT_TRUE(contains(of(odd), "odd/dsm has two configs named iso"));
  odd = variant("odd", "overlap");
  odd.configs.front().info.kernels = {{nullptr, 32}};
  EXPECT_TRUE(contains(of(odd), "odd/overlap has no kernel in config iso"));
  EXPECT_TRUE(contains(registration_mistake("odd/overlap"), "no kernel"));
  odd = variant("odd", "drop_off");
  odd.configs.front().info.kernels = {{&place, 0}};
  EXPECT_TRUE(contains(of(odd), "a kernel of 0 threads"));
  EXPECT_TRUE(contains(of(variant("nobody", "tma")),
                       "nobody/tma is registered at mine/odd.cu:5 for an app that nothing"));
  const Names null = said([&] { register_app(nullptr, place); });
  EXPECT_EQ(null, Names{"a null app is registered at mine/odd.cu:5"});
  EXPECT_THROW(register_ceiling(probe("fp32_rate")), std::logic_error);
}

TEST(RegistrationMistakes, ASpellingHasTheConfigsOfItsStrategy) {
  const SourceLine place{"mine/words.cu", 9};
  register_app(std::make_unique<NamedApp>("spelled"), place);
  const auto spelling = [](const std::string& name, const std::string& of) {
    Variant v = variant("spelled", name, true);
    v.spells = of;
    return v;
  };
  EXPECT_EQ(said([&] { register_variant(spelling("library", "tma"), place); }),
            Names{"spelled/library is registered at mine/words.cu:9 as a spelling of spelled/tma, "
                  "which nothing registers"});
  // The order of registration does not matter, so that this mends it.
  register_variant(variant("spelled", "tma"), place);
  EXPECT_EQ(registration_mistake("spelled/library"), "");
  Variant more = spelling("more", "tma");
  more.configs.front().info.name = "wide";
  const Names config = said([&] { register_variant(more, place); });
  ASSERT_EQ(config.size(), 1u);
  EXPECT_TRUE(contains(config[0], "as a spelling of spelled/tma, which has no config wide"));
  EXPECT_EQ(registration_mistake("spelled/more"), config[0]);
}

TEST(RegistrationMistakes, KnowsWhereSomethingIsRegistered) {
  register_app(std::make_unique<NamedApp>("placed"), {"/src/placed/app.cpp", 3});
  EXPECT_EQ(place_of("placed"), "placed/app.cpp:3");
  register_instance_factory("placed", {}, {"instance.cu", 4});
  EXPECT_EQ(place_of("placed"), "instance.cu:4");
  register_variant(variant("placed", "tma"));
  EXPECT_EQ(place_of("placed/tma"), fmt::format("harness/registry_test.cpp:{}", __LINE__ - 1));
  EXPECT_EQ(place_of("placed/dsm"), "");
}

}  // namespace
}  // namespace amasia
