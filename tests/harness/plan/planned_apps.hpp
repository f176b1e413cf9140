// Two small apps to plan with: "alpha" has a baseline, tma and a vendor library, "beta" a baseline
// and dsm. An instance of size n takes 8 n bytes. Registered by one file of each test program.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/microbenchmark.hpp"
#include "harness/registry.hpp"

namespace amasia {

class AppToPlan : public App {
 public:
  explicit AppToPlan(std::string name) : name_(std::move(name)) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return "an app to plan with"; }
  const std::vector<ParameterSpec>& parameters() const override {
    static const std::vector<ParameterSpec> specs{
        {"n", ParameterSpec::Kind::integer, "elements", "10"}};
    return specs;
  }
  std::vector<Parameters> sizes(Preset preset) const override {
    std::vector<Parameters> sizes;
    const int count = preset == Preset::smoke ? 3 : preset == Preset::quick ? 1 : 2;
    for (int i = 1; i <= count; ++i) {
      sizes.emplace_back(parameters(),
                         std::map<std::string, std::string>{{"n", std::to_string(100 * i)}});
    }
    return sizes;
  }
  Work work(const Parameters&) const override { return {1, Work::Kind::fp32, 8, 8, 0}; }
  std::int64_t device_bytes(const Parameters& p) const override { return 8 * p.integer("n"); }
  Verdict check_reference(const Parameters&, std::uint64_t) const override { return {true}; }

 private:
  std::string name_;
};

inline Variant variant_to_plan(const std::string& app, const std::string& strategy,
                               bool comparator = false) {
  Variant v;
  v.app = app;
  v.strategy = strategy;
  v.comparator = comparator;
  for (const char* name : {"iso", "wide", "alone"}) {
    Config c;
    c.info.name = name;
    c.info.reference_only = std::string(name) == "alone";
    v.configs.push_back(c);
  }
  return v;
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
  Microbenchmark m;
  m.name = name;
  m.question = "How many points?";
  m.method = "None: it is planned and never run.";
  m.points = [](const Device&, Scope scope) {
    std::vector<Point> points;
    for (int i = 0; i < (scope == Scope::quick ? 2 : 5); ++i) {
      Point p;
      p.at = {{"i", std::to_string(i)}};
      p.quantity = "latency";
      p.unit = "cycles";
      p.unsupported = "it is planned and never run";
      points.push_back(std::move(p));
    }
    return points;
  };
  return m;
}

}  // namespace amasia
