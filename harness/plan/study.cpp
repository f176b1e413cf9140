#include "harness/plan/study.hpp"

#include <fmt/format.h>

#include "harness/published/inventory.hpp"
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

Preset preset_from(const std::string& name) {
  if (const auto preset = find_word<Preset>(name)) return *preset;
  const std::vector<std::string> names(std::begin(Words<Preset>::list),
                                       std::end(Words<Preset>::list));
  throw UsageError(fmt::format("no preset '{}': {}", name, suggestion(name, names)));
}

}  // namespace amasia
