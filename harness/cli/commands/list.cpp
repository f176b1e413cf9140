#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "harness/ceiling.hpp"
#include "harness/cli/command_line.hpp"
#include "harness/cli/options.hpp"
#include "harness/plan/selection.hpp"
#include "harness/plan/study.hpp"
#include "harness/results/codec.hpp"
#include "harness/results/provenance.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

Json app_json(const App& app) {
  Json sizes = Json::object(), parameters = Json::array(), list = Json::array();
  for (const Preset preset : all_values<Preset>()) {
    for (const Parameters& size : app.sizes(preset)) {
      sizes[std::string(word_of(preset))].push_back(size.to_string());
    }
  }
  for (const ParameterSpec& s : app.parameters()) {
    parameters.push_back(
        {{"name", s.name}, {"default", s.default_value}, {"help", s.help}, {"choices", s.choices}});
  }
  for (const Variant* v : variants_of(app.name())) {
    Json configs = Json::array();
    for (const Config& c : v->configs) {
      configs.push_back({{"name", c.info.name},
                         {"geometry", written(c.info.geometry)},
                         {"schedule", c.info.schedule},
                         {"movement", written(c.info.movement)}});
    }
    Json declined = Json::object();
    for (const Declined& d : v->declined) declined[d.schedule] = d.reason;
    list.push_back({{"name", v->name()},
                    {"comparator", v->comparator},
                    {"runs_from", v->traits.runs_from},
                    {"native_from", v->traits.native_from},
                    {"configs", configs},
                    {"declined", declined}});
  }
  Json schedules = Json::object();
  for (const Schedule& s : app.schedules()) schedules[std::string(s.name)] = s.summary;
  return {{"name", app.name()}, {"summary", app.summary()}, {"parameters", parameters},
          {"sizes", sizes},     {"schedules", schedules},   {"variants", list}};
}

Json everything() {
  Json all = {{"apps", Json::array()},
              {"microbenchmarks", Json::array()},
              {"studies", Json::array()},
              {"ceilings", Json::array()}};
  const Provenance built = collect_provenance({}, "", {});
  all["version"] = suite_version();
  all["commit"] = built.commit;
  all["dirty"] = built.dirty;
  for (const App* app : apps()) all["apps"].push_back(app_json(*app));
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

/// "  <name>   <text>", wrapped under the text.
void print_entry(const std::string& name, const std::string& text, std::size_t column = 28) {
  write_data(wrapped(fmt::format("  {:<{}}", name + "  ", column - 2), text, column));
}

void print_parameters(const App& app) {
  print_data(" parameters:\n");
  for (const ParameterSpec& s : app.parameters()) {
    std::string text = s.help;
    if (!s.choices.empty()) text += fmt::format(": {}", fmt::join(s.choices, ", "));
    if (text.find("(default:") == std::string::npos) {
      text += fmt::format(" (default: {})", s.default_value.empty() ? "none" : s.default_value);
    }
    print_entry(s.name, text);
  }
}

/// The sizes of each preset, as --size takes them. Choices and files at their default are left out,
/// and so are numbers whose default is 0: that stands for "not given".
void print_sizes(const App& app) {
  print_data(" sizes (--preset):\n");
  for (const Preset preset : all_values<Preset>()) {
    std::vector<std::string> sizes;
    for (const Parameters& size : app.sizes(preset)) {
      std::vector<std::string> given;
      for (const ParameterSpec& s : app.parameters()) {
        const std::string& value = size.text(s.name);
        const bool extent = s.kind == ParameterSpec::Kind::integer && s.default_value != "0";
        if (extent || value != s.default_value) given.push_back(s.name + "=" + value);
      }
      sizes.push_back(fmt::format("{}", fmt::join(given, ",")));
    }
    print_entry(std::string(word_of(preset)), fmt::format("{}", fmt::join(sizes, "  ")));
  }
}

void print_schedules(const App& app) {
  const std::vector<Schedule> schedules = app.schedules();
  if (!schedules.empty()) print_data(" schedules, the same for all strategies:\n");
  for (const Schedule& s : schedules) print_entry(std::string(s.name), std::string(s.summary));
}

void print_variants(const SelectedApp& selected) {
  if (selected.variants.empty()) {
    print_data(" variants: none, this program was built without CUDA\n");
    return;
  }
  print_data(" variants and their configs:\n");
  for (const Variant* v : selected.variants) {
    std::vector<std::string> names;
    for (const Config& c : v->configs) names.push_back(c.info.name);
    const std::string since =
        v->traits.runs_from > 0 ? fmt::format(" (sm_{} and newer)", v->traits.runs_from) : "";
    print_entry(v->name(), fmt::format("{}{}", fmt::join(names, ", "), since));
    for (const Declined& d : v->declined) {
      print_entry("", fmt::format("cannot run {}: {}", d.schedule, d.reason));
    }
  }
}

void print(const SelectedApp& selected) {
  write_data(wrapped("", fmt::format("{}: {}", selected.app->name(), selected.app->summary()), 2));
  print_parameters(*selected.app);
  print_sizes(*selected.app);
  print_schedules(*selected.app);
  print_variants(selected);
}

/// One page: what there is, by name.
void print_overview() {
  constexpr std::size_t column = 18;
  print_data("apps (amasia list APP has parameters, sizes, schedules and configs):\n");
  std::vector<std::string> strategies, comparators;
  for (const App* app : apps()) {
    print_entry(std::string(app->name()), std::string(app->summary()), column);
    for (const Variant* v : variants_of(app->name())) {
      if (v->comparator) {
        comparators.push_back(v->name());
      } else if (std::ranges::find(strategies, v->strategy) == strategies.end()) {
        strategies.push_back(v->strategy);
      }
    }
  }
  print_data("variants: {}\n", strategies.empty() ? "none, this program was built without CUDA"
                                                  : "APP/STRATEGY, as pathfinder/tma");
  if (!strategies.empty()) {
    print_entry("strategies", fmt::format("{}", fmt::join(strategies, ", ")), column);
    print_entry("to compare with", fmt::format("{}", fmt::join(comparators, ", ")), column);
  }
  std::map<std::string, std::vector<std::string>> folders;
  for (const Microbenchmark* m : microbenchmarks()) {
    const std::size_t slash = m->name.find('/');
    folders[m->name.substr(0, slash + 1)].push_back(m->name.substr(slash + 1));
  }
  if (!folders.empty()) print_data("microbenchmarks (amasia list 'memory/*' has questions):\n");
  for (const auto& [folder, names] : folders) {
    print_entry(folder, fmt::format("{}", fmt::join(names, ", ")), column);
  }
  if (const std::size_t more = microbenchmarks_left_out().size(); has_device_code() && more > 0) {
    print_entry("",
                fmt::format("{} more were left out: {}", more, how_to_build_all_microbenchmarks),
                column);
  }
  print_data("studies:\n");
  for (const Study& s : studies()) print_entry(std::string(s.name), std::string(s.summary), column);
  std::map<std::string, std::vector<InventoryRow>> documents;
  for (const InventoryRow& row : inventory())
    documents["seed" + row.id.substr(0, 3)].push_back(row);
  for (const auto& [name, rows] : documents) {
    print_entry(
        name,
        fmt::format("{}: {} of {} tables, figures and claims (amasia list {})", rows.front().source,
                    std::ranges::count_if(rows, is_built), rows.size(), name),
        column);
  }
}

/// What of a source document is measured, where a pattern names one.
bool print_document(const std::string& pattern) {
  const std::vector<InventoryRow> rows = inventory_rows(pattern);
  for (const InventoryRow& row : rows) {
    print_entry(row.id, fmt::format("{}, {}: {} ({}{})", row.source, row.where, row.what, row.study,
                                    is_built(row) ? "" : ", not part of this program"));
  }
  return !rows.empty();
}

ExitStatus list(std::vector<std::string> patterns) {
  if (patterns.empty()) print_overview();
  std::erase_if(patterns, print_document);
  if (!patterns.empty()) {
    const Selection selected = select(patterns);
    for (const SelectedApp& app : selected.apps) print(app);
    for (const Microbenchmark* m : selected.microbenchmarks) print_entry(m->name, m->question);
  }
  if (has_device_code()) {
    say_next("amasia study quick --dry-run", "shows what the shortest study would run");
  } else {
    say_next("amasia verify --reference", "checks the CPU references: what this build can run");
  }
  return exit_ok;
}

Action declare_list(CLI::App& options) {
  struct Request {
    std::vector<std::string> patterns{};
    bool json = false, sources = false;
  };
  auto r = std::make_shared<Request>();
  add_patterns(options, r->patterns, true);
  options.add_flag("--json", r->json, "everything, as JSON");
  options.add_flag("--sources", r->sources, "digest of each variant's code, as JSON");
  return [r](const std::vector<std::string>&) {
    if (!r->json && !r->sources) return list(r->patterns);
    print_data("{}\n", (r->sources ? Json(source_digests()) : everything()).dump(1));
    return exit_ok;
  };
}

const bool list_registered = register_command(
    {.name = "list",
     .group = CommandGroup::help,
     .summary = "what there is to measure: apps, variants, microbenchmarks, studies",
     .examples = {{{"amasia list hotspot", "one app: parameters, sizes, variants, configs"},
                   {"amasia list seed000", "what a source document measured, row by row"}}},
     .declare = declare_list});

}  // namespace
}  // namespace amasia
