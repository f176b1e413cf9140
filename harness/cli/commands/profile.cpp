#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "harness/cli/command_line.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/process/profiler.hpp"
#include "harness/registry.hpp"
#include "harness/results/profile.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/session.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

ProfiledGroup without_counters(const GroupResult& ran) {
  ProfiledGroup group;
  group.key = ran.key;
  group.preset = ran.preset;
  group.seed = ran.seed;
  group.warnings = ran.warnings;
  for (const Row& row : ran.rows) {
    group.rows.push_back({row.variant, row.role, row.config, row.schedule, row.status, row.reason,
                          source_digest(row.variant)});
  }
  return group;
}

/// What was counted belongs to the rows that ran, in their order.
void add_counters(ProfiledGroup& group, const NcuOutput& counted) {
  const auto ran = std::ranges::count(group.rows, RowStatus::ok, &ProfiledRow::status);
  if (static_cast<std::size_t>(ran) != counted.results.size()) {
    group.warnings.push_back(
        fmt::format("Nsight Compute counted {} times where {} rows ran: which is whose is not "
                    "known, so none has counters",
                    counted.results.size(), ran));
    return;
  }
  std::size_t next = 0;
  for (ProfiledRow& row : group.rows) {
    if (row.status == RowStatus::ok) row.counters = counters_of(counted.results[next++]);
  }
}

bool any_ran(const ProfiledGroup& group) {
  return std::ranges::count(group.rows, RowStatus::ok, &ProfiledRow::status) > 0;
}

/// The group, and in `obstacle` why nothing was counted in it.
ProfiledGroup profile_group(const PlannedGroup& plan, const std::string& ncu,
                            const SessionOptions& options, const LineSink& note,
                            bool& was_interrupted, std::string& obstacle) {
  NcuOutput counted;
  bool answered = false;
  const auto run = [&](const Json& task, double seconds) {
    ProfiledTask profiled = run_in_profiler(ncu, task, counted_metrics(), seconds, note);
    counted = std::move(profiled.counted);
    answered = profiled.answered;
    return profiled.outcome;
  };
  ProfiledGroup group = without_counters(run_isolated(plan, options, run, note, was_interrupted));
  if (was_interrupted) return group;
  if (!counted.results.empty()) {
    add_counters(group, counted);
    return group;
  }
  obstacle = why_forbidden(counted);
  if (obstacle.empty() && !answered && !counted.errors.empty()) {
    obstacle = "Nsight Compute did not run the program: " + counted.errors.front();
  }
  if (obstacle.empty() && any_ran(group)) {
    obstacle = "Nsight Compute ran the program and counted nothing: " +
               (counted.errors.empty() ? "it printed no table" : counted.errors.front());
  }
  return group;
}

std::string summary_of(const ProfiledGroup& group) {
  const auto counted = std::ranges::count_if(
      group.rows, [](const ProfiledRow& row) { return row.counters.has_value(); });
  return fmt::format("counters of {} of {} rows", counted, group.rows.size());
}

struct ProfilingOutcome {
  ProfileFile file{};
  bool interrupted = false;
  std::string obstacle{};  // why nothing can be counted here, with what to do; "" if it can
};

/// Adds the groups of `plan` to `file`, which has its provenance and what an earlier run finished.
/// `keep` receives it after each group. Ends at the first obstacle: the next group would meet it,
/// too.
ProfilingOutcome run_profiling(const std::vector<PlannedGroup>& plan, ProfileFile file,
                               const std::string& ncu, const SessionOptions& options,
                               const std::function<void(const ProfileFile&)>& keep) {
  ProfilingOutcome outcome;
  outcome.file = std::move(file);
  double expected = 0;
  for (const PlannedGroup& g : plan) expected += expected_seconds(g);
  Progress progress(static_cast<int>(plan.size()), expected);
  const auto note = [&](const std::string& line) { progress.note(line); };
  for (const PlannedGroup& g : plan) {
    progress.begin(g.key.to_string(), expected_seconds(g));
    const auto finished = [&](const ProfiledGroup& known) { return known.key == g.key; };
    if (std::ranges::any_of(outcome.file.groups, finished)) {
      progress.end("from the file");
      continue;
    }
    ProfiledGroup group =
        profile_group(g, ncu, options, note, outcome.interrupted, outcome.obstacle);
    if (outcome.interrupted || !outcome.obstacle.empty()) {
      progress.end(outcome.interrupted ? "interrupted" : "nothing can be counted");
      break;
    }
    progress.end(summary_of(group));
    outcome.file.groups.push_back(std::move(group));
    keep(outcome.file);
  }
  return outcome;
}

struct ProfileRequest : MeasureRequest {
  bool counters = false;
};

/// What is missing then. No variant has clocks of its own in its kernels: reading them would change
/// what is timed.
constexpr const char* no_fallback =
    "the kernels hold no clocks to fall back to, so nothing is attributed";

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
    return std::ranges::any_of(group.rows, [](const ProfiledRow& row) {
      return row.source_digest != source_digest(row.variant);
    });
  });
  return std::move(earlier.groups);
}

ExitStatus conclude(const ProfilingOutcome& outcome, const std::string& path) {
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
  if (const auto status = report_early_end({.interrupted = outcome.interrupted})) return *status;
  if (!outcome.obstacle.empty()) {
    print_prose("amasia: {}; {}\n", in_one_line(outcome.obstacle), no_fallback);
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
  const Plan planned = [&](const std::optional<Device>& device) -> Campaign {
    return {plan_counting(r.campaign, cases, recorded_winners(r.tuning, device),
                          device ? device->name : "")};
  };
  if (r.dry_run) return preview("profile", r, cases, planned);
  const std::string ncu = find_ncu();
  if (ncu.empty()) {
    print_prose(
        "amasia: Nsight Compute's ncu is not on PATH, in the CUDA toolkit or in "
        "/opt/nvidia/nsight-compute: install nsight-compute, or name it in the environment as "
        "NCU=/path/to/ncu; {}\n",
        no_fallback);
    return exit_wrong_result;
  }
  const Provenance queried = query_in_child(r.session);
  const Device& device = queried.device;
  refuse_too_large(cases, r.campaign, device);
  const std::vector<PlannedGroup> plan = planned(device).groups;
  const std::string out = output_of(r.session, device, "profile");
  ProfileFile file;
  file.groups = finished_before(out, r.session.existing, device);
  file.provenance = collect_provenance(argv, "", settings_of(r.campaign), false, queried);
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
  return [r](const std::vector<std::string>& argv) { return profile(*r, argv); };
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
     .declare = declare_profile});

}  // namespace
}  // namespace amasia
