// `amasia-effects effects`: all apps of the study in one result file, with the settings that
// `amasia run` has by default.
#include <memory>

#include "harness/cli/command.hpp"
#include "harness/cli/measuring.hpp"

namespace amasia {
namespace {

Action declare_effects(CLI::App& options) {
  auto r = std::make_shared<MeasureRequest>();
  // cross: the doses, which are schedules of their app.
  r->campaign.roles = {Role::iso, Role::best, Role::cross};
  add_sizes(options, r->campaign.sizes, Preset::sweep);
  add_modes(options, r->campaign);
  add_effort(options, r->effort, "");
  add_measuring(options, *r);
  return [r](const Invocation& invocation) {
    r->campaign.patterns = {"planted", "dosed"};
    r->campaign.effort = effort_of(r->effort, Effort{});
    r->campaign.study = "effects";
    return measure(*r, invocation.argv);
  };
}

const bool effects_registered = register_command(
    {.name = "effects",
     .group = CommandGroup::measure,
     .summary = "measure what is known beforehand, to see what is found of it",
     .description =
         "Planted slow-downs and doses of one resource. What was found of them is shown by "
         "python -m plots effects.",
     .examples = {{{"amasia effects --out effects.json", "the whole study"},
                   {"amasia effects --preset smoke", "one group of each kind"}}},
     .exits = {exit_ok, exit_wrong_result, exit_usage, exit_no_device, exit_invalid_measurement,
               exit_output, exit_interrupted},
     .declare = declare_effects});

}  // namespace
}  // namespace amasia
