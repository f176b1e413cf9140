#include "harness/cli/measuring.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "harness/cli/options.hpp"
#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/process/isolation.hpp"
#include "harness/report/report.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/result.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

Provenance describe_run(const std::vector<std::string>& argv, const MeasureRequest& r,
                        const Provenance& queried) {
  const CampaignRequest& c = r.campaign;
  std::map<std::string, std::string> settings{
      {"patience", fmt::format("{}", c.effort.patience)},
      {"energy", c.effort.energy ? "true" : "false"},
      {"point_seconds", fmt::format("{}", c.point_seconds)},
      {"shard", r.shard},
  };
  settings.merge(settings_of(c.effort));
  settings.merge(settings_of(c));
  return collect_provenance(argv, c.study, settings, r.record_host, queried);
}

/// What the run will not know of its device, a line each.
std::vector<std::string> blind_spots(const std::map<std::string, std::string>& device_state) {
  std::vector<std::string> lines;
  if (const std::string nvml = value_in(device_state, "nvml"); !nvml.empty()) {
    lines.push_back(nvml + "; whether a limit or another process disturbs is judged without it");
  }
  if (value_in(device_state, "mig") == "on") {
    lines.emplace_back(
        "MIG is on: ceilings of a slice are not compared with those of whole GPUs, and NVML does "
        "not tell a slice's clock and energy");
  }
  return lines;
}

void count(RowStatus status, Tally& tally) {
  constexpr int Tally::*of_status[] = {&Tally::ok, &Tally::failed, &Tally::skipped,
                                       &Tally::crashed};
  ++(tally.*of_status[static_cast<std::size_t>(status)]);
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
  for (const std::string& w : g.warnings) print_prose("warning: {}: {}\n", g.key.to_string(), w);
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

/// A campaign, to be read before it is started.
struct Preview {
  std::string title;  // "run", "quick", "tune"
  Campaign campaign{};
  std::optional<Device> device{};  // that it would run on
  std::string obstacle{};          // why there is none
};

/// "45 s", "12 min", "3.5 h".
std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 100 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string memory(std::int64_t bytes) {
  if (bytes < 1000000) return fmt::format("{:.1f} kB", static_cast<double>(bytes) * 1e-3);
  if (bytes < 1000000000) return fmt::format("{:.1f} MB", static_cast<double>(bytes) * 1e-6);
  return fmt::format("{:.2f} GB", static_cast<double>(bytes) * 1e-9);
}

/// "best 64x8", "matched to hotspot/tma", "cross 64x8 again".
std::string text_of(const PlannedRow& row) {
  std::string text(word_of(row.role));
  if (!row.matches.empty()) text += " to " + row.matches;
  for (const std::string& name : {row.schedule, row.config}) {
    if (!name.empty() && name != word_of(row.role)) text += " " + name;
  }
  return text + (row.repeat > 0 ? " again" : "");
}

/// A line for each variant: its rows in this group.
std::string variant_lines(const PlannedGroup& g) {
  std::string text;
  for (std::size_t i = 0; i < g.rows.size();) {
    const std::string& variant = g.rows[i].variant;
    std::string rows;
    for (; i < g.rows.size() && g.rows[i].variant == variant; ++i) {
      rows += (rows.empty() ? "" : ", ") + text_of(g.rows[i]);
    }
    text += wrapped(fmt::format("    {:<26}", variant + "  "), rows, 30);
  }
  return text;
}

std::string fit(const PlannedGroup& g, const std::optional<Device>& device) {
  if (!device) return "";
  const bool enough = device_bytes(g) <= static_cast<std::int64_t>(device->free_bytes);
  return enough ? ", fits" : ", does NOT fit: will be skipped";
}

std::string group_lines(const Preview& p) {
  std::string text, size_before, rows_before;
  for (const PlannedGroup& g : p.campaign.groups) {
    const std::string size = g.key.app + " " + g.key.size.to_string();
    if (size != size_before) {
      text += wrapped(
          "",
          fmt::format("{}: {} of device memory{}", size, memory(device_bytes(g)), fit(g, p.device)),
          2);
      rows_before.clear();
    }
    size_before = size;
    const std::string rows = variant_lines(g);
    const std::string cost =
        has_device_code()
            ? fmt::format("{} rows{}, about {}", g.rows.size(),
                          g.effort.energy ? " with energy" : "", duration(expected_seconds(g)))
            : "rows and time unknown, this program has no variants";
    text += wrapped("  ",
                    fmt::format("{} {}: {}", word_of(g.key.cache), word_of(g.key.launch), cost), 4);
    if (rows != rows_before) text += rows;
    rows_before = rows;
  }
  return text;
}

std::string microbenchmark_lines(const Preview& p) {
  std::string text;
  for (const PlannedMicrobenchmark& m : p.campaign.microbenchmarks) {
    const std::string scope = m.scope == Scope::quick ? "quick" : "full";
    std::string cost = "points and time unknown without a device";
    if (p.device) {
      const std::size_t points = planned_points(m, *p.device).size();
      cost = fmt::format("{} points, about {}", points, duration(expected_seconds(m, points)));
    }
    text += wrapped("", fmt::format("{} ({}): {}", m.name, scope, cost), 2);
  }
  return text;
}

std::string total(const Preview& p) {
  if (!has_device_code()) return "expected time: unknown, this program has no device code";
  const Campaign& c = p.campaign;
  if (c.groups.empty() && c.microbenchmarks.empty() && !c.ceilings) return "nothing would run";
  const std::string time = duration(expected_seconds(c, p.device));
  if (p.device || c.microbenchmarks.empty()) {
    return fmt::format("expected: about {}{}", time,
                       c.ceilings ? ", ceilings of the GPU included" : "");
  }
  return fmt::format("expected: about {} and the microbenchmarks, whose time is unknown", time);
}

std::string describe(const Preview& p) {
  const std::optional<Device>& device = p.device;
  std::string text = wrapped(
      "",
      fmt::format("{}{}: {} groups, {} microbenchmarks", p.title,
                  device ? fmt::format(" on {} ({} free)", device->name,
                                       memory(static_cast<std::int64_t>(device->free_bytes)))
                         : "",
                  p.campaign.groups.size(), p.campaign.microbenchmarks.size()),
      2);
  if (!device) {
    text += wrapped("", "no usable GPU: " + p.obstacle, 2);
    text += wrapped("",
                    "unknown without a GPU: what fits in its memory, which variants and points it "
                    "can run, its recorded winners",
                    2);
  }
  text += group_lines(p) + microbenchmark_lines(p);
  return text + wrapped("", total(p), 2);
}

namespace fs = std::filesystem;

/// "out/run.json.gz", 2 -> "out/run.session-2.json.gz".
std::string file_of_session(const std::string& out, int session) {
  const std::string suffix =
      out.ends_with(".json.gz") ? ".json.gz" : fs::path(out).extension().string();
  return fmt::format("{}.session-{}{}", out.substr(0, out.size() - suffix.size()), session, suffix);
}

bool is_finished(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && fs::file_size(path, error) > 0 && !error;
}

/// False when it was interrupted.
bool rest_a_second() {
  for (int i = 0; i < 20 && !interrupted(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return !interrupted();
}

/// A session that an earlier run finished. Another GPU is no obstacle; other cases would be.
ResultFile finished_session(const std::string& path, const ResultFile* first) {
  ResultFile file = read_result_file(path);
  if (first == nullptr) return file;
  if (const auto why = session_disagreement(first->provenance, file.provenance)) {
    throw ResultError(path + ": cannot be resumed, it differs from this run in " + *why +
                      "; remove it to start over");
  }
  return file;
}

// A campaign done several times, each time as a session of its own.

/// One complete pass: `before` is the device and its state as they are when it begins.
using Pass = std::function<SessionOutcome(const Provenance& before, const SessionOptions& options)>;

/// Every session is a run with a file of its own beside `options.out` ("run.session-2.json"), with
/// all that makes a run survive; at the end they become the sessions of `out`, and go. With resume,
/// finished sessions are kept, and a finished `out` of fewer sessions gets the missing ones.
/// Throws as Journal and run_session().
SessionOutcome run_sessions(int count, const SessionOptions& options, const Pass& pass) {
  const bool resumes = options.existing == Existing::resume;
  std::vector<ResultFile> files;
  std::vector<std::string> names, parts;
  int done = 0;
  if (is_finished(options.out) && options.existing != Existing::overwrite) {
    if (!resumes) {
      throw UsageError(options.out +
                       ": holds the results of another run; continue it with --resume, replace it "
                       "with --overwrite, or choose another --out");
    }
    files.push_back(read_result_file(options.out));
    names.push_back(options.out);
    done = std::max<int>(1, static_cast<int>(files.front().provenance.sessions.size()));
    if (done >= count) return {.file = std::move(files.front())};
  }
  for (int session = done + 1; session <= count; ++session) {
    SessionOptions one = options;
    one.out = file_of_session(options.out, session);
    parts.push_back(one.out);
    names.push_back(one.out);
    if (resumes && is_finished(one.out) && !fs::exists(one.out + ".journal")) {
      files.push_back(finished_session(one.out, files.empty() ? nullptr : &files.front()));
      continue;
    }
    // Its GPU and the second in which it began tell a session from another.
    if (!files.empty() && !rest_a_second())
      return {.file = std::move(files.back()), .interrupted = true};
    print_prose("session {} of {}\n", session, count);
    SessionOutcome outcome = pass(query_in_child(one), one);
    if (outcome.interrupted || !outcome.device_lost.empty()) return outcome;
    files.push_back(std::move(outcome.file));
  }
  Merged merged = merge(files, names);
  for (const std::string& note : merged.notes) print_prose("note: {}\n", note);
  try {
    write_result_file(options.out, merged.file);
  } catch (const ResultError& error) {
    std::vector<std::string> words{"amasia", "merge"};
    words.insert(words.end(), names.begin(), names.end());
    words.insert(words.end(), {"--out", "FILE"});
    throw ResultError(fmt::format("{}; each session is in a file of its own: {} joins them",
                                  error.what(), in_shell(words)));
  }
  for (const std::string& part : parts) {
    std::error_code error;  // one that cannot be removed is no harm
    fs::remove(part, error);
  }
  return {.file = std::move(merged.file)};
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
  if (folder.empty() || folder == "none" || std::filesystem::is_directory(folder, error)) return;
  throw UsageError(fmt::format(
      "--records {}: no such folder: name one with earlier results of this GPU model, or none",
      folder));
}

std::string output_of(const SessionOptions& session, const Device& device, const std::string& title,
                      const std::vector<std::string>& inputs) {
  std::string out = session.out;
  if (out.empty()) {
    out = default_output(fmt::format("out/{}-{}", device_slug(device.name), title),
                         session.existing == Existing::resume);
  }
  keep_inputs(inputs, {out});
  constexpr std::uint64_t room = 64 << 20;  // the largest study's file, several times over
  check_writable(out, room);
  return out;
}

ExitStatus measure(MeasureRequest r, const std::vector<std::string>& argv) {
  CampaignRequest& c = r.campaign;
  check_records(r.session.records);
  const Cases cases = cases_of(c);
  if (!r.shard.empty()) c.shard = parse_shard(r.shard);
  const std::string title = c.study.empty() ? r.title : c.study;
  const Plan planned = [&](const std::optional<Device>& device) {
    return plan_campaign(c, cases, recorded_winners(r.tuning, device), device ? device->name : "");
  };
  if (r.dry_run) {
    if (r.sessions > 1) print_prose("{} times, each as follows\n", r.sessions);
    return preview(title, r, cases.apps, planned);
  }

  const Provenance queried = query_in_child(r.session);
  const Device& device = queried.device;
  refuse_too_large(cases.apps, c, device);
  const Campaign plan = planned(device);

  SessionOptions options = r.session;
  options.ceilings = plan.ceilings;
  options.out = output_of(r.session, device, title);
  print_prose("{} on {}: {} groups, {} microbenchmarks{}, results to {}\n", title, device.name,
              plan.groups.size(), plan.microbenchmarks.size(),
              r.sessions > 1 ? fmt::format(", {} times", r.sessions) : "", options.out);
  for (const std::string& line : blind_spots(queried.device_state)) print_prose("note: {}\n", line);
  const Pass pass = [&](const Provenance& before, const SessionOptions& to) {
    return run_session(plan.groups, describe_run(argv, r, before), to, plan.microbenchmarks);
  };
  const SessionOutcome outcome =
      r.sessions > 1 ? run_sessions(r.sessions, options, pass) : pass(queried, options);
  if (!is_stdout(options.out)) write_data(to_markdown(outcome.file));
  return conclude(outcome, r, options.out);
}

ExitStatus preview(const std::string& title, const MeasureRequest& request,
                   const std::vector<AppCases>& cases, const Plan& plan) {
  Preview shown{title};
  try {
    shown.device = query_in_child(request.session).device;
    refuse_too_large(cases, request.campaign, *shown.device);
  } catch (const NoDevice& reason) {
    shown.obstacle = reason.what();
  }
  shown.campaign = plan(shown.device);
  write_data(describe(shown));
  const char* where = shown.device ? "" : ", on a machine whose GPU this build can use,";
  say_next(fmt::format("the same command without --dry-run{}", where), "runs it");
  return exit_ok;
}

}  // namespace amasia
