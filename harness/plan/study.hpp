// Studies: named lists of cases. A study names no app; every app brings its own sizes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/plan/effort.hpp"

namespace amasia {

struct Study {
  std::string_view name;
  std::string_view summary;
  Preset preset;
  std::vector<CacheMode> caches;
  std::vector<LaunchMode> launches;
  Effort effort{};
};

const std::vector<Study>& studies();

/// Throws UsageError with the nearest names, those of the inventory
/// (harness/published/inventory.hpp) too.
const Study& find_study(const std::string& name);

/// Makes the request one for this study: its sizes, and its modes and effort wherever none were
/// asked for (`caches` and `launches` empty).
void ask_for(CampaignRequest& request, const Study& study, const EffortAsked& asked);

/// Throws UsageError with the nearest names unless `name` is the word of a preset.
Preset preset_from(const std::string& name);

}  // namespace amasia
