// Studies: named lists of cases. A study names no app; every app brings its own sizes.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/app.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/plan/plan.hpp"

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

/// Throws UsageError with the nearest names, those of the inventory too.
const Study& find_study(const std::string& name);

/// Makes the request one for this study: its sizes, and its modes and effort wherever none were
/// asked for (`caches` and `launches` empty).
void ask_for(CampaignRequest& request, const Study& study, const EffortAsked& asked);

/// Apps and microbenchmarks that answer these rows and are part of this program, as patterns.
std::vector<std::string> patterns_of(const std::vector<InventoryRow>& rows);

/// The points of each microbenchmark that these rows take. One of which a row takes all has no
/// entry.
std::map<std::string, std::vector<Coordinates>> points_of(const std::vector<InventoryRow>& rows);

/// Makes the request one for these rows: the whole question, at the papers' sizes, cold and in a
/// stream unless other modes were asked for. Throws UsageError when it has patterns of its own.
void ask_for(CampaignRequest& request, std::vector<InventoryRow> rows, const EffortAsked& asked);

}  // namespace amasia
