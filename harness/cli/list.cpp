#include "harness/cli/commands.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/ceiling.hpp"
#include "harness/cli/command_line.hpp"
#include "harness/results/provenance.hpp"
#include "harness/published/published.hpp"
#include "harness/plan/study.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

Json list_json() {
  Json all = {{"apps", Json::array()},
              {"microbenchmarks", Json::array()},
              {"studies", Json::array()},
              {"ceilings", Json::array()}};
  for (const App* app : apps()) {
    Json sizes = Json::object(), parameters = Json::array(), list = Json::array();
    for (std::size_t p = 0; p < std::size(preset_names); ++p) {
      for (const Parameters& size : app->sizes(static_cast<Preset>(p))) {
        sizes[std::string(preset_names[p])].push_back(size.to_string());
      }
    }
    for (const ParameterSpec& s : app->parameters()) {
      parameters.push_back({{"name", s.name},
                            {"default", s.default_value},
                            {"help", s.help},
                            {"choices", s.choices}});
    }
    for (const Variant* v : variants_of(app->name())) {
      Json configs = Json::array();
      for (const Config& c : v->configs) {
        Json geometry = Json::object();
        for (const auto& [key, value] : c.info.geometry) geometry[key] = value;
        configs.push_back({{"name", c.info.name}, {"geometry", geometry}});
      }
      list.push_back({{"name", v->name()},
                      {"comparator", v->comparator},
                      {"runs_from", v->traits.runs_from},
                      {"native_from", v->traits.native_from},
                      {"configs", configs}});
    }
    all["apps"].push_back({{"name", app->name()},
                           {"summary", app->summary()},
                           {"parameters", parameters},
                           {"sizes", sizes},
                           {"variants", list}});
  }
  for (const Microbenchmark* m : microbenchmarks()) {
    all["microbenchmarks"].push_back(
        {{"name", m->name}, {"question", m->question}, {"method", m->method}});
  }
  for (const Study& s : studies()) {
    all["studies"].push_back({{"name", s.name}, {"summary", s.summary}});
  }
  for (const InventoryRow& row : inventory()) {
    all["inventory"].push_back({{"id", row.id}, {"study", row.study}, {"built", is_built(row)}});
  }
  for (const CeilingProbe& c : ceiling_probes()) {
    all["ceilings"].push_back({{"name", c.name}, {"unit", c.unit}, {"method", c.method}});
  }
  return all;
}

}  // namespace

int list(const std::vector<std::string>& patterns, bool json, bool sources) {
  if (sources) {
    fmt::print("{}\n", Json(source_digests()).dump(1));
    return exit_ok;
  }
  if (json) {
    fmt::print("{}\n", list_json().dump(1));
    return exit_ok;
  }
  const PatternSelection selected = select_all(patterns);
  const auto& chosen = selected.variants;
  for (const App* app : apps()) {
    const auto mine = variants_of(app->name());
    if (std::none_of(mine.begin(), mine.end(), [&](const Variant* v) {
          return std::find(chosen.begin(), chosen.end(), v) != chosen.end();
        })) {
      continue;
    }
    fmt::print("{}: {}\n", app->name(), app->summary());
    for (const ParameterSpec& s : app->parameters()) {
      fmt::print("  {:<12} {} (default {})\n", s.name, s.help,
                 s.default_value.empty() ? "none" : s.default_value);
    }
    for (const Variant* v : mine) {
      if (std::find(chosen.begin(), chosen.end(), v) == chosen.end()) continue;
      std::vector<std::string> names;
      for (const Config& c : v->configs) names.push_back(c.info.name);
      fmt::print(
          "  {:<28} {}{}\n", v->name(), fmt::join(names, " "),
          v->traits.runs_from > 0 ? fmt::format("  (sm_{} and newer)", v->traits.runs_from) : "");
    }
  }
  const auto& questions = patterns.empty() ? microbenchmarks() : selected.microbenchmarks;
  if (!questions.empty()) fmt::print("microbenchmarks:\n");
  for (const Microbenchmark* m : questions) fmt::print("  {:<20} {}\n", m->name, m->question);
  fmt::print("studies:\n");
  for (const Study& s : studies()) fmt::print("  {:<12} {}\n", s.name, s.summary);
  if (!patterns.empty()) return exit_ok;
  fmt::print("studies of the source documents (own values beside the published ones):\n");
  std::map<std::string, std::pair<int, int>> counts;  // study -> rows built, rows
  std::vector<std::string> order;
  for (const InventoryRow& row : inventory()) {
    auto& [built, all] = counts[row.study];
    if (all++ == 0) order.push_back(row.study);
    built += is_built(row);
  }
  for (const std::string& name : order) {
    const auto& [built, all] = counts[name];
    if (built > 0) fmt::print("  {:<18} {} of {} rows\n", name, built, all);
  }
  fmt::print("  seed000 to seed003 run a document whole; one row: its id, e.g. 000-04\n");
  return exit_ok;
}

}  // namespace amasia
