// Two small apps to plan with: "alpha" has a baseline, tma and a vendor library, "beta" a baseline
// and dsm. An instance of size n takes 8 n bytes. Registered by one file of each test program.
#pragma once

#include "harness/microbenchmark.hpp"
#include "harness/registry.hpp"
#include "tests/fake_apps.hpp"

namespace amasia {

class AppToPlan : public VectorsApp {
 public:
  explicit AppToPlan(std::string name) : VectorsApp(std::move(name), "an app to plan with", "10") {}
  std::vector<Parameters> sizes(Preset preset) const override {
    const int count = preset == Preset::smoke ? 3 : preset == Preset::quick ? 1 : 2;
    std::vector<Parameters> sizes;
    for (int i = 1; i <= count; ++i) sizes.push_back(of(100 * i));
    return sizes;
  }
};

inline Variant variant_to_plan(const std::string& app, const std::string& strategy,
                               bool comparator = false) {
  return fake_variant(app, strategy, {{"iso"}, {"wide"}, {.name = "alone", .reference_only = true}},
                      comparator);
}

inline bool register_apps_to_plan() {
  return register_app(std::make_unique<AppToPlan>("alpha")) &&
         register_app(std::make_unique<AppToPlan>("beta")) &&
         register_variant(variant_to_plan("alpha", "baseline")) &&
         register_variant(variant_to_plan("alpha", "tma")) &&
         register_variant(variant_to_plan("alpha", "vendor", true)) &&
         register_variant(variant_to_plan("beta", "baseline")) &&
         register_variant(variant_to_plan("beta", "dsm"));
}

inline Microbenchmark question_to_plan(const std::string& name) {
  const auto points = [](const Device&, Scope scope) {
    std::vector<Point> list;
    for (int i = 0; i < (scope == Scope::quick ? 2 : 5); ++i) {
      list.push_back({.at = {{"i", std::to_string(i)}},
                      .quantity = "latency",
                      .unit = "cycles",
                      .unsupported = "it is planned and never run"});
    }
    return list;
  };
  return {name, "How many points?", "None: it is planned and never run.", points};
}

}  // namespace amasia
