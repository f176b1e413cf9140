#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "harness/cli/command.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/cli/outputs.hpp"
#include "harness/process/profiler.hpp"
#include "harness/report/markdown.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/profiling.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

struct ProfileRequest {
  CampaignRequest campaign{};
  SessionOptions session{};
  std::string tuning{};
  bool dry_run = false, counters = false;
};

/// What is missing then. No variant has clocks of its own in its kernels: reading them would change
/// what is timed.
constexpr const char* without_counters =
    "the kernels hold no clocks to fall back to, so nothing is attributed";

Provenance describe_run(const std::vector<std::string>& argv, const CampaignRequest& c,
                        const Provenance& queried) {
  Provenance p = collect_provenance(argv, "", settings_of(c));
  p.device = queried.device;
  p.device_state = queried.device_state;
  return p;
}

/// Of an earlier run into the same file, the groups whose code is that of today.
std::vector<ProfiledGroup> finished_before(const std::string& path, Existing existing,
                                           const Device& device) {
  if (existing == Existing::overwrite || !std::filesystem::exists(path)) return {};
  if (existing == Existing::refuse) {
    throw UsageError(path +
                     ": holds another profile; continue it with --resume, replace it with "
                     "--overwrite, or choose another --out");
  }
  ProfileFile earlier = read_profile_file(path);
  if (earlier.provenance.device.name != device.name) {
    throw UsageError(fmt::format("{}: is of {}, this GPU is {}; choose another --out", path,
                                 earlier.provenance.device.name, device.name));
  }
  std::erase_if(earlier.groups, [](const ProfiledGroup& group) {
    return std::any_of(group.rows.begin(), group.rows.end(), [](const ProfiledRow& row) {
      return row.source_digest != source_digest(row.variant);
    });
  });
  return std::move(earlier.groups);
}

ExitStatus conclude(const ProfilingOutcome& outcome, const std::string& path) {
  if (!outcome.file.groups.empty()) write_data(to_markdown(outcome.file));
  bool wrong = false;
  for (const ProfiledGroup& group : outcome.file.groups) {
    for (const std::string& w : group.warnings) {
      print_prose("warning: {}: {}\n", group.key.to_string(), w);
    }
    for (const ProfiledRow& row : group.rows) {
      wrong = wrong || row.status == RowStatus::failed || row.status == RowStatus::crashed ||
              (row.status == RowStatus::ok && !row.counters);
    }
  }
  if (outcome.interrupted) {
    print_prose(
        "interrupted: finished groups are kept; continue with the same command and "
        "--resume\n");
    return exit_interrupted;
  }
  if (!outcome.obstacle.empty()) {
    print_prose("amasia: {}; {}\n", in_one_line(outcome.obstacle), without_counters);
    return exit_wrong_result;
  }
  say_next(plots_command({"why", "results", path}), "says of each difference what explains it");
  return wrong ? exit_wrong_result : exit_ok;
}

ExitStatus profile(const ProfileRequest& r, const std::vector<std::string>& argv) {
  if (r.counters) {
    write_data(table_of_counters());
    return exit_ok;
  }
  const std::vector<AppCases> cases = app_cases_of(r.campaign);
  if (r.dry_run) {
    const Preview::Machine machine = look_at(r.session);
    if (machine.device) refuse_too_large(cases, r.campaign, *machine.device);
    const std::vector<PlannedGroup> plan =
        plan_counting(r.campaign, cases, recorded_winners(r.tuning, machine.device),
                      machine.device ? machine.device->name : "");
    print_preview({"profile", {plan}, machine, !r.tuning.empty() || machine.device});
    return exit_ok;
  }
  const std::string ncu = find_ncu();
  if (ncu.empty()) {
    print_prose(
        "amasia: Nsight Compute's ncu is not on PATH, in the CUDA toolkit or in "
        "/opt/nvidia/nsight-compute: install nsight-compute, or name it in the environment as "
        "NCU=/path/to/ncu; {}\n",
        without_counters);
    return exit_wrong_result;
  }
  const Provenance queried = query_in_child(r.session);
  const Device& device = queried.device;
  refuse_too_large(cases, r.campaign, device);
  const std::vector<PlannedGroup> plan =
      plan_counting(r.campaign, cases, recorded_winners(r.tuning, device), device.name);
  std::string out = r.session.out;
  if (out.empty()) {
    out = default_output(fmt::format("out/{}-profile", device_slug(device.name)),
                         r.session.existing == Existing::resume);
  }
  constexpr std::uint64_t room = 16 << 20;
  check_writable(out, room);
  ProfileFile file;
  file.groups = finished_before(out, r.session.existing, device);
  file.provenance = describe_run(argv, r.campaign, queried);
  file.profiler = "Nsight Compute " + ncu_version(ncu);
  print_prose("profile on {} with {}: {} groups, counters to {}\n", device.name, file.profiler,
              plan.size(), out);
  const ProfilingOutcome outcome =
      run_profiling(plan, std::move(file), ncu, r.session,
                    [&out](const ProfileFile& so_far) { write_profile_file(out, so_far); });
  return conclude(outcome, out);
}

Action declare_profile(CLI::App& options) {
  auto r = std::make_shared<ProfileRequest>();
  r->session.step_seconds = 900;  // a pass of the profiler takes the group once
  add_cases(options, r->campaign, Preset::quick);
  add_roles(options, r->campaign.roles);
  add_seed(options, r->campaign.seed);
  add_device_of_child(options, r->session);
  add_tuning(options, r->tuning);
  add_keeping(options, r->session);
  add_dry_run(options, r->dry_run);
  options.add_flag("--counters", r->counters, "what is counted, as a table; run nothing");
  return [r](const Invocation& invocation) { return profile(*r, invocation.argv); };
}

const bool profile_registered = register_command(
    {.name = "profile",
     .group = CommandGroup::measure,
     .summary = "what the hardware counts while variants run, by Nsight Compute",
     .description = "Runs the same rows as `run`, each once between marks, under the program ncu; "
                    "the counters go to a file of their own, from which python -m plots why "
                    "explains measured differences. Clocks stay as they are.",
     .examples = {{{"amasia profile hotspot --preset paper", "all rows of one app, cold"},
                   {"amasia profile --counters", "what is counted, and what it means"}}},
     .exits = {exit_ok, exit_wrong_result, exit_usage, exit_no_device, exit_output,
               exit_interrupted},
     .declare = declare_profile});

}  // namespace
}  // namespace amasia
