#include "harness/plan/reproduction.hpp"

#include <algorithm>

#include "harness/errors.hpp"

namespace amasia {

Reproducible reproducible(const std::vector<InventoryRow>& rows) {
  if (std::any_of(rows.begin(), rows.end(), is_built)) return Reproducible::yes;
  const bool answered = std::any_of(rows.begin(), rows.end(),
                                    [](const InventoryRow& row) { return !row.by.empty(); });
  return answered ? Reproducible::not_built : Reproducible::nothing_to;
}

std::vector<std::string> patterns_of(const std::vector<InventoryRow>& rows) {
  std::vector<std::string> patterns;
  for (const InventoryRow& row : rows) {
    if (!is_built(row)) continue;
    for (const std::string& by : row.by) {
      const bool app = by.starts_with("app ");
      if (!app && find_microbenchmark(by) == nullptr) continue;
      const std::string pattern = app ? by.substr(4) : by;
      if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) {
        patterns.push_back(pattern);
      }
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
