#include "harness/registry.hpp"

#include "harness/ceiling.hpp"
#include "harness/results/provenance.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/test.hpp"

namespace amasia {
namespace {

CeilingProbe probe(const std::string& name) { return {name, "GB/s", "copies", true, 0, {}}; }

/// Registered out of order, as a linker may do it.
const bool registered = [] {
  for (const char* app : {"zeta", "alpha", "mu"}) register_app(std::make_unique<AppToPlan>(app));
  register_variant(variant_to_plan("zeta", "tma"));
  register_variant(variant_to_plan("alpha", "vendor", true));
  register_variant(variant_to_plan("alpha", "cub", true));
  std::vector<std::string> strategies;
  for (const StrategyTraits& traits : strategy_traits) strategies.emplace_back(traits.name);
  std::ranges::shuffle(strategies, std::mt19937(7));
  for (const std::string& strategy : strategies)
    register_variant(variant_to_plan("alpha", strategy));
  register_variant(variant_to_plan("zeta", "baseline"));
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

TEST(Registry, ASecondRegistrationIsRefusedWithBothPlaces) {
  const SourceLine first{"/home/me/mine/one.cu", 7}, second{"/home/me/mine/two.cu", 8};
  const auto refused = [](const std::function<void()>& act) {
    return message_of<std::logic_error>(act);
  };
  register_app(std::make_unique<AppToPlan>("twofold"), first);
  register_variant(variant_to_plan("twofold", "tma"), first);
  EXPECT_EQ(refused([&] { register_variant(variant_to_plan("twofold", "tma"), second); }),
            "twofold/tma is registered twice, at mine/one.cu:7 and at mine/two.cu:8");
  EXPECT_EQ(refused([&] { register_app(std::make_unique<AppToPlan>("twofold"), second); }),
            "twofold is registered twice, at mine/one.cu:7 and at mine/two.cu:8");
  EXPECT_EQ(place_of("twofold"), "mine/one.cu:7");
  register_instance_factory("twofold", {}, second);
  EXPECT_EQ(place_of("twofold"), "mine/two.cu:8") << "where instances are made, once that is known";
  EXPECT_EQ(place_of("twofold/tma"), "mine/one.cu:7");
  EXPECT_EQ(place_of("twofold/dsm"), "");
  EXPECT_EQ(refused([&] { register_instance_factory("twofold", {}, first); }),
            "the instance of twofold is registered twice, at mine/two.cu:8 and at mine/one.cu:7");
  EXPECT_TRUE(contains(refused([] { register_ceiling(probe("fp32_rate")); }), "twice"));
  Variant empty = variant_to_plan("twofold", "dsm");
  empty.configs.clear();
  EXPECT_EQ(refused([&] { register_variant(empty, first); }),
            "twofold/dsm has no config, at mine/one.cu:7");
}

}  // namespace
}  // namespace amasia
