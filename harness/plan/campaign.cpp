#include "harness/plan/campaign.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "harness/conclusions/sessions.hpp"

#include "harness/registry.hpp"

namespace amasia {
namespace {

template <class T>
bool is_among(const std::vector<T>& list, const T& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
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

PlannedMicrobenchmark planned(const Microbenchmark& m, const CampaignRequest& request) {
  const Preset preset = request.sizes.effective_preset();
  PlannedMicrobenchmark plan;
  plan.name = m.name;
  plan.scope = preset == Preset::paper || preset == Preset::sweep ? Scope::full : Scope::quick;
  plan.effort.seconds = request.point_seconds;
  plan.effort.max_samples = std::max(plan.effort.min_samples, request.effort.max_rounds);
  plan.effort.precision = request.effort.precision;
  plan.effort.confidence = request.effort.confidence;
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
  for (const AppCases& c : cases) refuse_too_large(*c.app, c.sizes, request.sizes, device);
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
  plan.ceilings =
      std::any_of(
          plan.groups.begin(), plan.groups.end(),
          [](const PlannedGroup& g) { return has_work(find_app(g.key.app)->work(g.key.size)); }) ||
      std::any_of(request.inventory.begin(), request.inventory.end(), [](const InventoryRow& row) {
        return is_among(row.by, std::string("ceilings"));
      });
  return plan;
}

void leave_out(Campaign& plan, const std::vector<ResultFile>& measured) {
  std::set<std::string> groups, microbenchmarks;
  bool ceilings = false;
  for (const ResultFile& file : measured) {
    for (const GroupResult& g : file.groups) groups.insert(g.key.to_string());
    for (const MicrobenchmarkResult& m : file.microbenchmarks) microbenchmarks.insert(m.name);
    ceilings = ceilings || !file.ceilings.empty();
  }
  std::erase_if(plan.groups,
                [&](const PlannedGroup& g) { return groups.contains(g.key.to_string()); });
  std::erase_if(plan.microbenchmarks,
                [&](const PlannedMicrobenchmark& m) { return microbenchmarks.contains(m.name); });
  // The floors of what is left are those of the GPU that measures it.
  plan.ceilings = plan.ceilings && (!plan.groups.empty() || !ceilings);
}

void check_parts(const std::vector<ResultFile>& measured, const std::vector<std::string>& names,
                 const Provenance& now) {
  for (std::size_t f = 0; f < measured.size(); ++f) {
    const ResultFile& file = measured[f];
    if (const auto why =
            disagreement(file.provenance, now, measured_code(file.groups, file.microbenchmarks),
                         /*same_gpu=*/false, shard_settings)) {
      throw ResultError(
          fmt::format("{}: is no part of this campaign, it differs from this run in "
                      "{}",
                      names[f], *why));
    }
  }
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

std::size_t expected_points(const PlannedMicrobenchmark& plan, const Device& device) {
  return planned_points(plan, device).size();
}

double expected_seconds(const Campaign& campaign, const std::optional<Device>& device) {
  double seconds = campaign.ceilings ? expected_ceiling_seconds : 0;
  for (const PlannedGroup& g : campaign.groups) {
    if (device && device_bytes(g) > static_cast<std::int64_t>(device->free_bytes)) continue;
    seconds += expected_seconds(g);
  }
  if (!device) return seconds;
  for (const PlannedMicrobenchmark& m : campaign.microbenchmarks) {
    seconds += expected_seconds(m, expected_points(m, *device));
  }
  return seconds;
}

}  // namespace amasia
