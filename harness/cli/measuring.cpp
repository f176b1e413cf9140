#include "harness/cli/measuring.hpp"

#include <filesystem>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/cli/closing.hpp"
#include "harness/cli/preview.hpp"
#include "harness/cli/repeated.hpp"
#include "harness/conclusions/claim.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/report/markdown.hpp"
#include "harness/report/sentences.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/result.hpp"
#include "harness/text/folder.hpp"
#include "harness/text/output.hpp"
#include "harness/text/shell.hpp"

namespace amasia {
namespace {

Provenance describe_run(const std::vector<std::string>& argv, const MeasureRequest& r,
                        const Provenance& queried) {
  const CampaignRequest& c = r.campaign;
  std::map<std::string, std::string> settings{
      {"min_rounds", std::to_string(c.effort.min_rounds)},
      {"max_rounds", std::to_string(c.effort.max_rounds)},
      {"seconds", fmt::format("{}", c.effort.seconds)},
      {"patience", fmt::format("{}", c.effort.patience)},
      {"precision", fmt::format("{}", c.effort.precision)},
      {"confidence", fmt::format("{}", c.effort.confidence)},
      {"energy", c.effort.energy ? "true" : "false"},
      {"point_seconds", fmt::format("{}", c.point_seconds)},
      {"shard", r.shard},
      {"cold_method", "flush: 4 x L2 read before each run"},
  };
  settings.merge(settings_of(c));
  Provenance p = collect_provenance(argv, c.study, settings, r.record_host);
  p.device = queried.device;
  p.device_state = queried.device_state;
  return p;
}

/// What the run will not know of its device, a line each.
std::vector<std::string> blind_spots(const std::map<std::string, std::string>& device_state) {
  std::vector<std::string> lines;
  if (const auto nvml = device_state.find("nvml"); nvml != device_state.end()) {
    lines.push_back(fmt::format(
        "{}; whether a limit or another process disturbs is judged without it", nvml->second));
  }
  if (const auto mig = device_state.find("mig"); mig != device_state.end() && mig->second == "on") {
    lines.emplace_back(
        "MIG is on: ceilings of a slice are not compared with those of whole GPUs, and NVML does "
        "not tell a slice's clock and energy");
  }
  return lines;
}

void count(RowStatus status, Tally& tally) {
  switch (status) {
    case RowStatus::ok:
      ++tally.ok;
      break;
    case RowStatus::failed:
      ++tally.failed;
      break;
    case RowStatus::skipped:
      ++tally.skipped;
      break;
    case RowStatus::crashed:
      ++tally.crashed;
      break;
  }
}

void report(const MicrobenchmarkResult& m, Tally& tally) {
  for (const MicrobenchmarkRow& row : m.rows) {
    count(row.status, tally);
    if (row.status != RowStatus::ok) {
      print_prose("{} {} [{}]: {}\n", word_of(row.status), m.name, to_string(row.at), row.reason);
    }
    tally.valid = tally.valid && row.stop_reason != StopReason::time_limit;
  }
  tally.valid = tally.valid && m.invalid.empty();
  for (const std::string& w : reservations(m)) print_prose("warning: {}: {}\n", m.name, w);
}

void report(const GroupResult& g, Tally& tally) {
  for (const Row& row : g.rows) {
    count(row.status, tally);
    if (row.status == RowStatus::failed || row.status == RowStatus::crashed) {
      print_prose("{} {} ({}) at {}: {} - {}\n",
                  row.status == RowStatus::failed ? "FAILED" : "CRASHED", row.variant,
                  role_in_group(row), g.key.to_string(), row.reason,
                  row.verdict && !row.verdict->first_mismatches.empty()
                      ? row.verdict->first_mismatches.front()
                      : "no mismatch recorded");
    } else if (row.status == RowStatus::skipped) {
      print_prose("skipped {} ({}) at {}: {}\n", row.variant, role_in_group(row), g.key.to_string(),
                  row.reason);
    }
  }
  for (const std::string& w : g.warnings) {
    print_prose("warning: {}: {}\n", g.key.to_string(), w);
  }
  for (const Invalidity& i : g.invalid) {
    print_prose("INVALID {}: {}\n", g.key.to_string(), to_string(i));
  }
  tally.valid = tally.valid && g.invalid.empty() && g.warnings.empty() && g.launch_blocked &&
                g.stop_reason != StopReason::time_limit;
}

/// Exit status of what was measured, and the closing sentences on stderr.
ExitStatus conclude(const SessionOutcome& outcome, const MeasureRequest& r,
                    const std::string& path) {
  const Tally tally = report(outcome.file);
  if (const auto status = report_early_end(outcome)) return *status;
  if (tally.failed + tally.crashed > 0) {
    if (r.finder.empty()) {
      say_next(with_patterns("amasia verify", r.campaign.patterns),
               "compares every config of these variants with the reference");
    } else {
      say_next(r.finder, r.finder_does);
    }
    return exit_wrong_result;
  }
  if (r.campaign.inventory.empty()) {
    say_next(plots_command({"report", path, "--out", "report.html"}),
             fmt::format("draws it; {} compares it with an earlier file",
                         plots_command({"compare", "OLD", path})));
  } else {
    say_next(plots_command({"reproduction", path}), "sets it beside the published values");
  }
  return r.strict && !tally.valid ? exit_invalid_measurement : exit_ok;
}

}  // namespace

Tally report(const ResultFile& file) {
  Tally tally;
  for (const MicrobenchmarkResult& m : file.microbenchmarks) report(m, tally);
  for (const GroupResult& g : file.groups) report(g, tally);
  print_prose("{} rows ok, {} failed, {} skipped, {} crashed\n", tally.ok, tally.failed,
              tally.skipped, tally.crashed);
  for (const GroupResult* g : shown_groups(file)) {
    for (const std::string& s : not_resolved(*g)) print_prose("note: {}\n", s);
  }
  for (const Answer& a : answers(file)) {
    print_prose("{}\n", a.faster ? in_colour(Colour::green, a.text) : a.text);
  }
  return tally;
}

std::optional<ExitStatus> report_early_end(const SessionOutcome& outcome) {
  if (outcome.interrupted) {
    print_prose(
        "interrupted: finished groups are kept; continue with the same command and "
        "--resume\n");
    return exit_interrupted;
  }
  if (!outcome.device_lost.empty()) {
    print_prose(
        "the GPU does not answer any more ({}): finished groups are kept; bring it back "
        "(nvidia-smi says what it lacks) and continue with the same command and --resume\n",
        outcome.device_lost);
    return exit_no_device;
  }
  return std::nullopt;
}

TuningTable recorded_winners(const std::string& tuning, const std::optional<Device>& device) {
  if (!tuning.empty()) {
    if (!std::filesystem::exists(tuning)) {
      throw UsageError(fmt::format("no tuning file {}: make one with amasia tune", tuning));
    }
    return TuningTable::read(tuning);
  }
  return device ? winners_in_results(*device) : TuningTable{};
}

void check_records(const std::string& folder) {
  std::error_code error;
  if (folder.empty() || folder == "none") return;
  if (std::filesystem::is_directory(folder, error)) {
    for (const std::string& note : json_files_in(folder).notes) print_prose("note: {}\n", note);
    return;
  }
  throw UsageError(fmt::format(
      "--records {}: no such folder: name one with earlier results of this GPU model, or none",
      folder));
}

ExitStatus measure(MeasureRequest r, const std::vector<std::string>& argv) {
  CampaignRequest& c = r.campaign;
  check_records(r.session.records);
  const Cases cases = cases_of(c);
  if (!r.shard.empty()) c.shard = parse_shard(r.shard);
  const std::string title = c.study.empty() ? r.title : c.study;
  if (r.dry_run) {
    const Preview::Machine machine = look_at(r.session);
    if (machine.device) refuse_too_large(cases.apps, c, *machine.device);
    const std::string device = machine.device ? machine.device->name : "";
    if (r.sessions > 1) print_prose("{} times, each as follows\n", r.sessions);
    Campaign plan = plan_campaign(c, cases, recorded_winners(r.tuning, machine.device), device);
    leave_out(plan, read_result_files(r.except));
    print_preview({title, std::move(plan), machine, !r.tuning.empty() || machine.device});
    return exit_ok;
  }
  keep_inputs(r.session.existing == Existing::overwrite ? r.except : std::vector<std::string>{},
              r.session.out, r.exports);

  const Provenance queried = query_in_child(r.session);
  const Device& device = queried.device;
  refuse_too_large(cases.apps, c, device);
  Campaign plan = plan_campaign(c, cases, recorded_winners(r.tuning, device), device.name);
  if (!r.except.empty()) {
    const std::vector<ResultFile> measured = read_result_files(r.except);
    check_parts(measured, r.except, describe_run(argv, r, queried));
    leave_out(plan, measured);
    if (plan.groups.empty() && plan.microbenchmarks.empty() && !plan.ceilings) {
      print_prose("{} on {}: nothing is left to measure\n", title, device.name);
      return exit_ok;
    }
  }

  SessionOptions options = r.session;
  options.ceilings = plan.ceilings;
  if (options.out.empty()) {
    options.out = default_output(fmt::format("out/{}-{}", device_slug(device.name), title),
                                 options.existing == Existing::resume);
    keep_inputs({}, options.out, r.exports);
  }
  constexpr std::uint64_t room = 64 << 20;  // the largest study's file, several times over
  check_writable(options.out, room);
  check_writable(r.exports);
  print_prose("{} on {}: {} groups, {} microbenchmarks{}, results to {}\n", title, device.name,
              plan.groups.size(), plan.microbenchmarks.size(),
              r.sessions > 1 ? fmt::format(", {} times", r.sessions) : "", options.out);
  for (const std::string& line : blind_spots(queried.device_state)) {
    print_prose("note: {}\n", line);
  }
  if (const auto doubt = doubt_of_date(utc_now())) {
    print_prose("note: the results will be {}: set this machine's clock\n", *doubt);
  }
  const Pass pass = [&](const Provenance& before, const SessionOptions& to) {
    return run_session(plan.groups, describe_run(argv, r, before), to, plan.microbenchmarks);
  };
  const SessionOutcome outcome = r.sessions > 1
                                     ? run_sessions(r.sessions, r.session_pause, options, pass)
                                     : pass(queried, options);
  or_say_where_results_are(options.out, [&] {
    write_exports(outcome.file, r.exports);
    if (r.exports.on_stdout() || is_stdout(options.out)) return;
    write_data(to_markdown(outcome.file));
  });
  return conclude(outcome, r, options.out);
}

}  // namespace amasia
