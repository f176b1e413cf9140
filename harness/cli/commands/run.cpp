#include <algorithm>
#include <memory>

#include "harness/cli/command_line.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/errors.hpp"
#include "harness/plan/selection.hpp"

namespace amasia {
namespace {

/// The role cross is a table of schedules in which every strategy is compared with the baseline: an
/// app that has no schedules, or no baseline, is refused before anything runs.
void check_schedules(const CampaignRequest& c) {
  if (std::ranges::find(c.roles, Role::cross) == c.roles.end()) return;
  for (const SelectedApp& selected : select(c.patterns).apps) {
    const std::string app(selected.app->name());
    const bool divided = !selected.app->schedules().empty();
    if (divided && (!has_device_code() || find_variant(app + "/baseline") != nullptr)) continue;
    throw UsageError("--roles cross: " + app +
                     (divided ? " has no baseline in this program"
                              : " has no configs divided into schedule and movement") +
                     "; name the apps to measure without it");
  }
}

Action declare_run(CLI::App& options) {
  auto r = std::make_shared<MeasureRequest>();
  add_cases(options, r->campaign, Preset::quick);
  add_roles(options, r->campaign.roles);
  options
      .add_option("--traits", r->campaign.traits,
                  "traits of a kernel, for a microbenchmark that takes any (twin) instead of its "
                  "own points (repeatable)")
      ->allow_extra_args(false)
      ->default_str("the microbenchmark's points")
      ->type_name("NAME=VALUE,...");
  add_effort(options, r->effort, "");
  add_measuring(options, *r);
  return [r](const std::vector<std::string>& argv) {
    CampaignRequest& c = r->campaign;
    check_schedules(c);
    if (c.roles == std::vector<Role>{Role::cross}) c.study = "cross";
    c.effort = effort_of(r->effort, Effort{});
    return measure(*r, argv);
  };
}

const bool run_registered = register_command(
    {.name = "run",
     .group = CommandGroup::measure,
     .summary = "verify, time and compare variants; measure microbenchmarks",
     .description = "Every group (one app, size, cache and launch mode) runs in a child process, "
                    "the baseline is always part of it, and what is finished survives an "
                    "interruption.",
     .examples = {{{"amasia run 'hotspot/*' --size rows=8Ki,cols=8Ki --cache cold,hot --dry-run",
                    "what would run at one size, cold and hot"},
                   {"amasia run pathfinder --roles cross --launch graph",
                    "one table: every strategy with every schedule"}}},
     .declare = declare_run});

}  // namespace
}  // namespace amasia
