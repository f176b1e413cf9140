#include "harness/plan/campaign.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "harness/ceiling.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/errors.hpp"
#include "harness/registry.hpp"
#include "harness/results/result.hpp"
#include "harness/text/pattern.hpp"
#include "harness/text/table.hpp"

namespace amasia {
namespace {

template <class T>
bool is_among(const std::vector<T>& list, const T& item) {
  return std::ranges::find(list, item) != list.end();
}

std::vector<AppCases> with_sizes(const std::vector<SelectedApp>& selected,
                                 const SizeRequest& sizes) {
  std::vector<AppCases> cases;
  for (const SelectedApp& s : selected) {
    cases.push_back({s.app, s.variants, sizes_of(*s.app, sizes, selected.size())});
  }
  return cases;
}

bool takes_energy(const CampaignRequest& request, CacheMode cache, LaunchMode launch) {
  const CacheMode hottest =
      is_among(request.caches, CacheMode::hot) ? CacheMode::hot : request.caches.back();
  return request.effort.energy && launch == request.launches.back() && cache == hottest;
}

/// Calls `add` with a group of each size, cache and launch mode; the rows are left to it. What was
/// asked for twice is one group: a result file in which a case stands twice is not read again.
template <class Add>
void for_each_group(const CampaignRequest& request, const std::vector<AppCases>& cases, Add add) {
  std::set<std::string> planned;
  for (const AppCases& c : cases) {
    for (const Parameters& size : c.sizes) {
      for (const CacheMode cache : request.caches) {
        for (const LaunchMode launch : request.launches) {
          PlannedGroup g;
          g.key = GroupKey{std::string(c.app->name()), size, cache, launch};
          if (!planned.insert(g.key.to_string()).second) continue;
          g.seed = request.seed;
          g.effort = request.effort;
          add(c, std::move(g));
        }
      }
    }
  }
}

/// What the points of a microbenchmark have in common with the groups of a campaign.
void take_effort(const Effort& effort, PointEffort& of_point) {
  of_point.max_samples = std::max(of_point.min_samples, effort.max_rounds);
  of_point.precision = effort.precision;
  of_point.confidence = effort.confidence;
}

PlannedMicrobenchmark planned(const Microbenchmark& m, const CampaignRequest& request) {
  const Preset preset = request.sizes.effective_preset();
  PlannedMicrobenchmark plan;
  plan.name = m.name;
  plan.scope = preset == Preset::paper || preset == Preset::sweep ? Scope::full : Scope::quick;
  plan.effort.seconds = request.point_seconds;
  take_effort(request.effort, plan.effort);
  if (const auto only = request.only.find(m.name); only != request.only.end()) {
    plan.only = only->second;
  }
  if (!request.traits.empty() && !m.asked) {
    throw UsageError("microbenchmark '" + m.name + "' takes no --traits");
  }
  for (const std::string& traits : request.traits) {
    const std::map<std::string, std::string> named = parse_size(traits, "traits");
    plan.asked.emplace_back(named.begin(), named.end());
  }
  // Traits that no kernel can have are a mistake of the request, also where there is no device.
  if (!plan.asked.empty()) planned_points(plan, Device{});
  return plan;
}

/// A setting as a number; the default where it is absent or no such number.
template <class Number>
void take_setting(const Provenance& provenance, const std::string& name, Number& number) {
  const auto value = number_from<Number>(value_in(provenance.settings, name));
  if (value && *value > 0) number = *value;
}

std::string name_of(const GroupResult& group, const Row& row) {
  return fmt::format("{} ({}) at {}", row.variant, role_in_group(row), group.key.to_string());
}

/// Why this program cannot measure any row of the group; its size in the app's own terms otherwise.
std::optional<std::string> case_obstacle(const GroupResult& group, Parameters& size) {
  const App* app = find_app(group.key.app);
  if (app == nullptr) return "app " + group.key.app + " is not part of this program";
  const auto& values = group.key.size.values();
  try {
    size = Parameters(app->parameters(), {values.begin(), values.end()});
  } catch (const UsageError& error) {
    return std::string(error.what());
  }
  return std::nullopt;
}

std::optional<std::string> row_obstacle(const Row& row) {
  const Variant* variant = find_variant(row.variant);
  if (variant == nullptr) return row.variant + " is not part of this program";
  const bool there = std::ranges::any_of(
      variant->configs, [&](const Config& c) { return c.info.name == row.config; });
  if (!there) return fmt::format("{} has no config {} in this program", row.variant, row.config);
  return std::nullopt;
}

PlannedRow planned(const Row& row) {
  PlannedRow again{row.variant, row.role, row.repeat, row.config, "as recorded"};
  const bool by_schedule = row.role == Role::matched || row.role == Role::cross;
  if (by_schedule && !row.schedule.empty()) {
    again.config.clear();
    again.schedule = row.schedule;
    again.by_schedule = {{row.schedule, row.config, "as recorded"}};
  }
  return again;
}

constexpr std::string_view inventory_csv =
#include "inventory.inc"
    ;

/// "memory/latency:access=load;method=luo|tensor_core/mma": points of the first, all of the second.
std::map<std::string, std::vector<Coordinates>> points_in(const std::string& text,
                                                          const std::string& place) {
  std::map<std::string, std::vector<Coordinates>> points;
  for (const std::string& entry : split(text, '|')) {
    const std::size_t colon = entry.find(':');
    std::vector<Coordinates>& of_name = points[entry.substr(0, colon)];
    if (colon == std::string::npos) continue;
    Coordinates at;
    for (const std::string& part : split(entry.substr(colon + 1), ';')) {
      const std::size_t equals = part.find('=');
      if (equals == std::string::npos || equals == 0) {
        throw ResultError(place + ": expected name=value, found '" + part + "'");
      }
      at.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    }
    of_name.push_back(std::move(at));
  }
  return points;
}

/// The effort that the settings of a file name; what they do not name is the default.
Effort effort_in(const Provenance& provenance) {
  Effort effort;
  take_setting(provenance, "max_rounds", effort.max_rounds);
  take_setting(provenance, "min_rounds", effort.min_rounds);
  effort.min_rounds = std::min(effort.min_rounds, effort.max_rounds);
  take_setting(provenance, "seconds", effort.seconds);
  take_setting(provenance, "patience", effort.patience);
  take_setting(provenance, "precision", effort.precision);
  double confidence = effort.confidence;
  take_setting(provenance, "confidence", confidence);
  if (confidence < 1) effort.confidence = confidence;
  return effort;
}

}  // namespace

Cases cases_of(const CampaignRequest& request) {
  // A study of a document may ask for ceilings and nothing else; no pattern is not "all" then.
  if (request.patterns.empty() && !request.inventory.empty()) return {};
  Selection chosen = select(request.patterns);
  return {with_sizes(chosen.apps, request.sizes), std::move(chosen.microbenchmarks)};
}

std::vector<AppCases> app_cases_of(const CampaignRequest& request) {
  return with_sizes(select_apps(request.patterns), request.sizes);
}

void refuse_too_large(const std::vector<AppCases>& cases, const CampaignRequest& request,
                      const Device& device) {
  if (request.sizes.given.empty()) return;
  for (const AppCases& c : cases) {
    for (const Parameters& size : c.sizes) {
      if (fits(*c.app, size, device)) continue;
      throw UsageError(fmt::format(
          "{} {} needs {} bytes of device memory, {} are available: choose a smaller "
          "size",
          c.app->name(), size.to_string(), c.app->device_bytes(size), device.free_bytes));
    }
  }
}

Campaign plan_campaign(const CampaignRequest& request, const Cases& cases,
                       const TuningTable& tuning, const std::string& device) {
  Campaign plan;
  for_each_group(request, cases.apps, [&](const AppCases& c, PlannedGroup g) {
    if (request.sizes.given.empty()) g.preset = request.sizes.effective_preset();
    g.effort.energy = takes_energy(request, g.key.cache, g.key.launch);
    g.rows = comparison_rows(g.key, c.variants, request.roles, tuning, device);
    plan.groups.push_back(std::move(g));
  });
  if (!request.traits.empty() && !cases.apps.empty()) {
    throw UsageError("an app takes no --traits: name a microbenchmark that does (twin)");
  }
  for (const Microbenchmark* m : cases.microbenchmarks) {
    plan.microbenchmarks.push_back(planned(*m, request));
  }
  plan.groups = keep_shard(std::move(plan.groups), request.shard);
  plan.microbenchmarks = keep_shard(std::move(plan.microbenchmarks), request.shard);
  // Floors need them, and so do the rows of a document that are answered by them.
  plan.ceilings = std::ranges::any_of(plan.groups,
                                      [](const PlannedGroup& g) {
                                        return has_work(find_app(g.key.app)->work(g.key.size));
                                      }) ||
                  std::ranges::any_of(request.inventory, [](const InventoryRow& row) {
                    return is_among(row.by, std::string("ceilings"));
                  });
  return plan;
}

std::vector<PlannedGroup> plan_counting(const CampaignRequest& request,
                                        const std::vector<AppCases>& cases,
                                        const TuningTable& tuning, const std::string& device) {
  std::vector<PlannedGroup> groups = plan_campaign(request, {cases, {}}, tuning, device).groups;
  for (PlannedGroup& g : groups) {
    g.effort = Effort{};
    g.effort.count_only = true;
    std::erase_if(g.rows, [](const PlannedRow& row) { return row.repeat > 0; });
  }
  return groups;
}

std::vector<PlannedGroup> plan_search(const CampaignRequest& request,
                                      const std::vector<AppCases>& cases) {
  std::vector<PlannedGroup> groups;
  for_each_group(request, cases, [&](const AppCases& c, PlannedGroup g) {
    g.rows = candidate_rows(c.variants);
    groups.push_back(std::move(g));
  });
  return groups;
}

std::vector<PlannedGroup> plan_verification(const CampaignRequest& request,
                                            const std::vector<AppCases>& cases) {
  // What a kernel computes does not depend on the state of the cache or on how it is launched.
  CampaignRequest once = request;
  once.caches = {CacheMode::cold};
  once.launches = {LaunchMode::stream};
  std::vector<PlannedGroup> groups = plan_search(once, cases);
  for (PlannedGroup& g : groups) {
    g.effort = Effort{};
    g.effort.verify_only = true;
  }
  return groups;
}

std::int64_t device_bytes(const PlannedGroup& group) {
  return find_app(group.key.app)->device_bytes(group.key.size);
}

double expected_seconds(const Campaign& campaign, const std::optional<Device>& device) {
  double seconds = campaign.ceilings ? expected_ceiling_seconds : 0;
  for (const PlannedGroup& g : campaign.groups) {
    if (device && device_bytes(g) > static_cast<std::int64_t>(device->free_bytes)) continue;
    seconds += expected_seconds(g);
  }
  if (!device) return seconds;
  for (const PlannedMicrobenchmark& m : campaign.microbenchmarks) {
    seconds += expected_seconds(m, planned_points(m, *device).size());
  }
  return seconds;
}

bool is_asked(const std::vector<std::string>& only, std::string_view name) {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& pattern) {
           return glob_match(pattern, name);
         });
}

Again plan_again(const ResultFile& file, const std::vector<std::string>& only) {
  Again again;
  const Effort effort = effort_in(file.provenance);
  for (const GroupResult* shown : shown_groups(file)) {
    const GroupResult& group = *shown;
    if (!is_asked(only, group.key.to_string())) continue;
    PlannedGroup plan;
    plan.key = group.key;
    plan.preset = group.preset;
    plan.seed = group.seed;
    plan.effort = effort;
    const auto obstacle = case_obstacle(group, plan.key.size);
    for (const Row& row : group.rows) {
      if (row.status != RowStatus::ok || !row.time_ms) continue;
      const auto why = obstacle ? obstacle : row_obstacle(row);
      if (why) {
        again.not_possible.push_back({name_of(group, row), *why});
      } else {
        plan.rows.push_back(planned(row));
      }
    }
    if (!plan.rows.empty()) again.campaign.groups.push_back(std::move(plan));
  }
  for (const MicrobenchmarkResult* shown : shown_microbenchmarks(file)) {
    const bool measured = std::ranges::any_of(
        shown->rows, [](const MicrobenchmarkRow& r) { return r.value.has_value(); });
    if (!measured || !is_asked(only, shown->name)) continue;
    if (find_microbenchmark(shown->name) == nullptr) {
      again.not_possible.push_back({shown->name, "it is not part of this program"});
      continue;
    }
    PlannedMicrobenchmark plan;
    plan.name = shown->name;
    plan.scope = shown->scope;
    take_setting(file.provenance, "point_seconds", plan.effort.seconds);
    take_effort(effort, plan.effort);
    again.campaign.microbenchmarks.push_back(std::move(plan));
  }
  again.campaign.ceilings = !again.campaign.groups.empty();
  return again;
}

const std::vector<InventoryRow>& inventory() {
  static const std::vector<InventoryRow> rows = [] {
    const CsvTable table = parse_csv(inventory_csv, "inventory.csv");
    const auto at = [&](const std::vector<std::string>& row, const char* name) {
      return row[table.column(name)];
    };
    std::vector<InventoryRow> all;
    for (const auto& row : table.rows) {
      const std::string id = at(row, "id");
      InventoryRow r{id,
                     at(row, "source"),
                     at(row, "where"),
                     at(row, "what"),
                     at(row, "study"),
                     {},
                     points_in(at(row, "points"), "inventory.csv: " + id),
                     at(row, "method"),
                     at(row, "remark")};
      const std::string by = at(row, "by");
      r.by = by.starts_with("app ") ? std::vector{by} : split(by, ' ');
      all.push_back(std::move(r));
    }
    return all;
  }();
  return rows;
}

std::vector<InventoryRow> inventory_rows(const std::string& name) {
  std::vector<InventoryRow> rows;
  for (const InventoryRow& row : inventory()) {
    if (name == row.id || name == row.study || name == "seed" + row.id.substr(0, 3)) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<std::string> inventory_names() {
  std::vector<std::string> names;
  std::set<std::string> seen;
  const auto offer = [&](const std::string& name) {
    if (seen.insert(name).second) names.push_back(name);
  };
  for (const InventoryRow& row : inventory()) offer("seed" + row.id.substr(0, 3));
  for (const InventoryRow& row : inventory()) offer(row.study);
  for (const InventoryRow& row : inventory()) offer(row.id);
  return names;
}

bool is_built(const InventoryRow& row) {
  return std::ranges::any_of(row.by, [](const std::string& by) {
    if (by == "ceilings") return !ceiling_probes().empty();
    if (by.starts_with("app ")) return !variants_of(by.substr(4)).empty();
    return find_microbenchmark(by) != nullptr;
  });
}

}  // namespace amasia
