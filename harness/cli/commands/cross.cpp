#include <memory>

#include "harness/cli/command.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/values.hpp"
#include "harness/errors.hpp"
#include "harness/plan/selection.hpp"
#include "harness/registry.hpp"

namespace amasia {
namespace {

/// Without a pattern, all apps that a table can be made of; one that is named and has none is
/// refused before anything runs.
void choose_apps(std::vector<std::string>& patterns) {
  if (patterns.empty()) {
    for (const App* app : apps()) {
      if (!app->schedules().empty()) patterns.emplace_back(app->name());
    }
    if (patterns.empty()) {
      throw UsageError("no app of this program has its configs divided into schedule and movement");
    }
  }
  for (const SelectedApp& selected : select_apps(patterns)) {
    const std::string app(selected.app->name());
    if (selected.app->schedules().empty()) {
      throw UsageError("cross needs schedules, and the configs of " + app +
                       " are not divided into schedule and movement: leave it out");
    }
    if (has_device_code() && find_variant(app + "/baseline") == nullptr) {
      throw UsageError("cross holds every strategy against the baseline, and " + app +
                       " has none in this program");
    }
  }
}

Action declare_cross(CLI::App& options) {
  auto r = std::make_shared<MeasureRequest>();
  r->campaign.roles = {Role::cross};
  r->campaign.launches = {LaunchMode::graph};
  add_cases(options, r->campaign, Preset::quick);
  add_effort(options, r->effort, "");
  add_measuring(options, *r);
  return [r](const Invocation& invocation) {
    choose_apps(r->campaign.patterns);
    r->campaign.effort = effort_of(r->effort, Effort{});
    r->campaign.study = "cross";
    return measure(*r, invocation.argv);
  };
}

const bool cross_registered = register_command(
    {.name = "cross",
     .group = CommandGroup::measure,
     .summary = "measure every strategy with every schedule of an app",
     .description = "One table: what each way of moving data gains where everything else is equal. "
                    "Every cell runs the best config known of its strategy and schedule (amasia "
                    "tune), in the same rounds as the baseline with that schedule.",
     .examples = {{{"amasia cross pathfinder", "all strategies with all schedules, quick sizes"},
                   {"amasia cross hotspot --size rows=8192,cols=8192,steps=20 --out cross.json",
                    "one size, kept for python -m plots figure cross"}}},
     .exits = exits_of_measuring,
     .declare = declare_cross});

}  // namespace
}  // namespace amasia
