// What the harness is tested with: an app and variants without any code.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/app.hpp"
#include "harness/variant.hpp"

namespace amasia {

/// Of two vectors of n floats. The sizes of a preset are up to who derives from it.
class VectorsApp : public App {
 public:
  VectorsApp(std::string name, std::string summary, std::string default_n)
      : name_(std::move(name)),
        summary_(std::move(summary)),
        specs_{{"n", ParameterSpec::Kind::integer, "elements", std::move(default_n)}} {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  const std::vector<ParameterSpec>& parameters() const override { return specs_; }
  Work work(const Parameters& p) const override {
    const auto n = static_cast<double>(p.integer("n"));
    return {2 * n, Work::Kind::fp32, 4 * n, 4 * n, 0};
  }
  std::int64_t device_bytes(const Parameters& p) const override {
    return checked_product({p.integer("n"), 8}, "two vectors");
  }
  Verdict check_reference(const Parameters& p, std::uint64_t) const override {
    return {true, "exact", 0, 0, p.integer("n"), 0};
  }

 protected:
  Parameters of(std::int64_t n) const { return {specs_, {{"n", std::to_string(n)}}}; }

 private:
  std::string name_, summary_;
  std::vector<ParameterSpec> specs_;
};

inline Variant fake_variant(std::string app, std::string strategy,
                            const std::vector<ConfigInfo>& configs, bool comparator = false) {
  Variant v;
  v.app = std::move(app);
  v.strategy = std::move(strategy);
  v.comparator = comparator;
  for (const ConfigInfo& info : configs) v.configs.emplace_back().info = info;
  return v;
}

}  // namespace amasia
