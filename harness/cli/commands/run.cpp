#include <memory>

#include "harness/cli/command.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/values.hpp"

namespace amasia {
namespace {

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
  return [r](const Invocation& invocation) {
    r->campaign.effort = effort_of(r->effort, Effort{});
    return measure(*r, invocation.argv);
  };
}

const bool run_registered = register_command(
    {.name = "run",
     .group = CommandGroup::measure,
     .summary = "verify, time and compare variants; measure microbenchmarks",
     .description = "Every group (one app, size, cache and launch mode) runs in a child process, "
                    "the baseline is always part of it, and what is finished survives an "
                    "interruption.",
     .examples = {{{"amasia run pathfinder", "all variants of one app at its quick sizes"},
                   {"amasia run 'hotspot/*' --size rows=8192,cols=8192 --cache cold,hot --dry-run",
                    "what would run at one size, cold and hot"}}},
     .exits = exits_of_measuring,
     .declare = declare_run});

}  // namespace
}  // namespace amasia
