#include "harness/plan/study.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

Effort effort(int max_rounds, double seconds, bool energy) {
  Effort e;
  e.max_rounds = max_rounds;
  e.seconds = seconds;
  // The largest sizes take seconds a round (lud n=16384: 5.3 s): with the few rounds of the plain
  // cap none of their comparisons could be resolved, however much they differ.
  e.patience = 12;
  e.energy = energy;
  return e;
}

}  // namespace

const std::vector<Study>& studies() {
  static const std::vector<Study> all{
      {word_of(Preset::smoke),
       "every variant at tiny and odd sizes: does it run and is it right",
       Preset::smoke,
       {CacheMode::cold},
       {LaunchMode::stream},
       effort(15, 1, false)},
      {word_of(Preset::quick),
       "every variant at one realistic size, cold, in both launch modes: under two minutes",
       Preset::quick,
       {CacheMode::cold},
       {LaunchMode::stream, LaunchMode::graph},
       effort(51, 4, false)},
      {word_of(Preset::paper),
       "the sizes of Svedin et al. 2021, Table 2, and those of the targets; cold and hot, energy",
       Preset::paper,
       {CacheMode::cold, CacheMode::hot},
       {LaunchMode::stream, LaunchMode::graph},
       effort(101, 8, true)},
      {word_of(Preset::sweep),
       "from launch-bound to memory-filling sizes, cold: where each strategy begins to pay",
       Preset::sweep,
       {CacheMode::cold},
       {LaunchMode::graph},
       effort(41, 4, false)},
  };
  return all;
}

const Study& find_study(const std::string& name) {
  std::vector<std::string> names;
  for (const Study& s : studies()) {
    if (s.name == name) return s;
    names.emplace_back(s.name);
  }
  for (std::string& id : inventory_names()) names.push_back(std::move(id));
  throw UsageError(fmt::format("no study '{}': {}", name, suggestion(name, names)));
}

void ask_for(CampaignRequest& request, const Study& study, const EffortAsked& asked) {
  request.sizes.preset = study.preset;
  if (request.caches.empty()) request.caches = study.caches;
  if (request.launches.empty()) request.launches = study.launches;
  request.effort = effort_of(asked, study.effort);
}

std::vector<std::string> patterns_of(const std::vector<InventoryRow>& rows) {
  std::vector<std::string> patterns;
  for (const InventoryRow& row : rows) {
    if (!is_built(row)) continue;
    for (const std::string& by : row.by) {
      const bool app = by.starts_with("app ");
      if (!app && find_microbenchmark(by) == nullptr) continue;
      const std::string pattern = app ? by.substr(4) : by;
      if (std::ranges::find(patterns, pattern) == patterns.end()) patterns.push_back(pattern);
    }
  }
  return patterns;
}

std::map<std::string, std::vector<Coordinates>> points_of(const std::vector<InventoryRow>& rows) {
  std::map<std::string, std::vector<Coordinates>> only;
  std::vector<std::string> whole;
  for (const InventoryRow& row : rows) {
    if (row.points.empty()) whole.insert(whole.end(), row.by.begin(), row.by.end());
    for (const auto& [name, points] : row.points) {
      if (points.empty()) whole.push_back(name);
      only[name].insert(only[name].end(), points.begin(), points.end());
    }
  }
  for (const std::string& name : whole) only.erase(name);
  return only;
}

void ask_for(CampaignRequest& request, std::vector<InventoryRow> rows, const EffortAsked& asked) {
  if (!request.patterns.empty()) {
    throw UsageError("study " + request.study + " is a list of its own: it takes no patterns");
  }
  request.patterns = patterns_of(rows);
  request.sizes.preset = Preset::paper;
  if (request.caches.empty()) request.caches = {CacheMode::cold};
  if (request.launches.empty()) request.launches = {LaunchMode::stream};
  request.effort = effort_of(asked, Effort{});
  request.only = points_of(rows);
  request.inventory = std::move(rows);
}

}  // namespace amasia
