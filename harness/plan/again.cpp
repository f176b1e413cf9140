#include "harness/plan/again.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "harness/conclusions/sessions.hpp"
#include "harness/errors.hpp"
#include "harness/registry.hpp"
#include "harness/results/result.hpp"
#include "harness/text/number.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

/// A setting as a number; the default where it is absent or no such number.
template <class Number>
void take_setting(const Provenance& provenance, const std::string& name, Number& number) {
  const auto found = provenance.settings.find(name);
  if (found == provenance.settings.end()) return;
  const auto value = number_from<Number>(found->second);
  if (value && *value > 0) number = *value;
}

std::string name_of(const GroupResult& group, const Row& row) {
  return fmt::format("{} ({}) at {}", row.variant, role_in_group(row), group.key.to_string());
}

/// Why this program cannot measure any row of the group; its size in the app's own terms otherwise.
std::optional<std::string> case_obstacle(const GroupResult& group, Parameters& size) {
  const App* app = find_app(group.key.app);
  if (app == nullptr) return "app " + group.key.app + " is not part of this program";
  std::map<std::string, std::string> given;
  for (const auto& [name, value] : group.key.size.values()) given[name] = value;
  try {
    size = Parameters(app->parameters(), given);
  } catch (const UsageError& error) {
    return std::string(error.what());
  }
  return std::nullopt;
}

std::optional<std::string> row_obstacle(const Row& row) {
  const Variant* variant = find_variant(row.variant);
  if (variant == nullptr) return row.variant + " is not part of this program";
  const bool there = std::any_of(variant->configs.begin(), variant->configs.end(),
                                 [&](const Config& c) { return c.info.name == row.config; });
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

}  // namespace

bool is_asked(const std::vector<std::string>& only, std::string_view name) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& pattern) {
           return glob_match(pattern, name);
         });
}

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
    const bool measured =
        std::any_of(shown->rows.begin(), shown->rows.end(),
                    [](const MicrobenchmarkRow& r) { return r.value.has_value(); });
    if (!measured || !is_asked(only, shown->name)) continue;
    if (find_microbenchmark(shown->name) == nullptr) {
      again.not_possible.push_back({shown->name, "it is not part of this program"});
      continue;
    }
    PlannedMicrobenchmark plan;
    plan.name = shown->name;
    plan.scope = shown->scope;
    take_setting(file.provenance, "point_seconds", plan.effort.seconds);
    plan.effort.max_samples = std::max(plan.effort.min_samples, effort.max_rounds);
    plan.effort.precision = effort.precision;
    plan.effort.confidence = effort.confidence;
    again.campaign.microbenchmarks.push_back(std::move(plan));
  }
  again.campaign.ceilings = !again.campaign.groups.empty();
  return again;
}

}  // namespace amasia
