#include "harness/registry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>

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

TEST(Registry, AppsAreInNameOrder) {
  Names found;
  for (const App* app : apps()) found.emplace_back(app->name());
  EXPECT_EQ(found, (Names{"alpha", "mu", "zeta"}));
}

TEST(Registry, VariantsAreByAppThenStrategyThenComparators) {
  EXPECT_EQ(names(variants()), (Names{"alpha/baseline", "alpha/register_bypass", "alpha/overlap",
                                      "alpha/drop_off", "alpha/tma", "alpha/dsm", "alpha/cub",
                                      "alpha/vendor", "zeta/baseline", "zeta/tma"}));
  EXPECT_EQ(names(variants_of("zeta")), (Names{"zeta/baseline", "zeta/tma"}));
  EXPECT_TRUE(variants_of("mu").empty());
}

TEST(Registry, CeilingsAreInNameOrder) {
  Names found;
  for (const CeilingProbe& p : ceiling_probes()) found.push_back(p.name);
  EXPECT_EQ(found, (Names{"copy_bandwidth", "fp32_rate", "write_bandwidth"}));
}

TEST(Registry, FindsByName) {
  ASSERT_NE(find_app("mu"), nullptr);
  EXPECT_EQ(find_app("mu")->name(), "mu");
  EXPECT_EQ(find_app("m"), nullptr);
  ASSERT_NE(find_variant("alpha/dsm"), nullptr);
  EXPECT_EQ(find_variant("alpha/dsm")->strategy, "dsm");
  EXPECT_EQ(find_variant("alpha"), nullptr);
  EXPECT_NE(find_instance_factory("alpha"), nullptr);
  EXPECT_EQ(find_instance_factory("mu"), nullptr);
}

TEST(Registry, MistakesOfTheProgrammerAreRefused) {
  EXPECT_THROW(register_app(std::make_unique<NamedApp>("mu")), std::logic_error);
  EXPECT_THROW(register_app(nullptr), std::logic_error);
  EXPECT_THROW(register_variant(variant("alpha", "tma")), std::logic_error);
  EXPECT_THROW(register_variant(variant("mu", "fast")), std::logic_error);
  Variant empty = variant("mu", "tma");
  empty.configs.clear();
  EXPECT_THROW(register_variant(empty), std::logic_error);
  Variant twice = variant("mu", "tma");
  twice.configs.push_back(twice.configs.front());
  EXPECT_THROW(register_variant(twice), std::logic_error);
  EXPECT_THROW(register_ceiling(probe("fp32_rate")), std::logic_error);
  EXPECT_THROW(register_instance_factory("alpha", {}), std::logic_error);
  EXPECT_EQ(variants().size(), 10u);
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

TEST(SelectVariants, ByPatternInRegistryOrderWithoutRepeats) {
  EXPECT_EQ(names(select_variants({"zeta"})), (Names{"zeta/baseline", "zeta/tma"}));
  EXPECT_EQ(names(select_variants({"*/tma"})), (Names{"alpha/tma", "zeta/tma"}));
  EXPECT_EQ(names(select_variants({"zeta/tma", "alpha/d*", "*/tma"})),
            (Names{"alpha/drop_off", "alpha/tma", "alpha/dsm", "zeta/tma"}));
  EXPECT_EQ(select_variants({}), variants());
  EXPECT_EQ(select_variants({"*"}), variants());
}

TEST(SelectVariants, APatternThatMatchesNothingGetsTheNearest) {
  const auto error = [](const Names& patterns) {
    return message_of<UsageError>([&] { select_variants(patterns); });
  };
  EXPECT_TRUE(contains(error({"zeta", "alhpa"}), "'alhpa' matches no variant: did you mean alpha"));
  EXPECT_TRUE(contains(error({"alpha/tmaa"}), "did you mean alpha/tma"));
  EXPECT_TRUE(contains(error({"tma"}), "did you mean */tma"));
  EXPECT_TRUE(contains(error({"mu"}), "matches no variant"));  // an app with no variant built
}

}  // namespace
}  // namespace amasia
