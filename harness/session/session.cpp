#include "harness/session/session.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "harness/plan/expectation.hpp"
#include "harness/process/isolation.hpp"
#include "harness/registry.hpp"
#include "harness/results/claim.hpp"
#include "harness/results/journal.hpp"
#include "harness/session/ceiling_records.hpp"
#include "harness/session/ceilings.hpp"
#include "harness/session/child_task.hpp"
#include "harness/session/completion.hpp"
#include "harness/session/progress.hpp"
#include "harness/session/row.hpp"
#include "harness/session/stopwatch.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;
using LineSink = std::function<void(const std::string&)>;

constexpr double ceiling_seconds = 60;  // for one of them; all are expected to take ten
constexpr double device_seconds = 60;   // a first context on a big machine can take many seconds

ChildOutcome perform(const Json& task, double seconds, const SessionOptions& options,
                     const LineSink& on_line) {
  return options.in_process ? run_in_process(task, perform_task, on_line)
                            : run_in_child(task, seconds, on_line);
}

std::string no_answer(const ResultError& error) {
  return fmt::format("the process answered what is no result: {}", error.what());
}

/// Once for each group: whoever killed the child need not have meant the row that was at work.
bool deserves_another_try(const ChildOutcome& outcome, bool& tried_again, const LineSink& on_line) {
  if (!outcome.killed || tried_again) return false;
  tried_again = true;
  on_line(outcome.failure + "; trying again");
  return true;
}

/// A group none of whose rows ran, with the reason on each.
GroupResult group_without_rows(const PlannedGroup& plan, RowStatus status,
                               const std::string& reason) {
  GroupResult g;
  g.key = plan.key;
  g.preset = plan.preset;
  g.seed = plan.seed;
  g.work = find_app(plan.key.app)->work(plan.key.size);
  g.warnings.push_back(reason);
  for (const PlannedRow& p : plan.rows) {
    Row row = row_of(p);
    row.status = status;
    row.reason = reason;
    g.rows.push_back(std::move(row));
  }
  return g;
}

/// An implementation that somebody brought and that prints takes time for it, and whoever reads
/// its output waits for it.
void warn_of_printing(GroupResult& result, const PlannedGroup& plan, const ChildOutcome& outcome) {
  constexpr std::size_t longest = 60;  // of what is quoted
  for (const auto& [index, line] : outcome.printed) {
    const auto row = static_cast<std::size_t>(index);
    if (index < 0 || row >= plan.rows.size() || plan.rows[row].repeat > 0) continue;
    const Variant* const variant = find_variant(plan.rows[row].variant);
    if (variant == nullptr || !variant->brought) continue;
    result.warnings.push_back(
        fmt::format("{}: {} printed to stdout, \"{}\"{}: printing is part of what is timed",
                    variant->brought->place, variant->name(), in_one_line(line.substr(0, longest)),
                    line.size() > longest ? " and more" : ""));
  }
}

/// Whether two rows surely run the same config. One that is not named is chosen by what the row is.
bool runs_the_same(const PlannedRow& a, const PlannedRow& b) {
  if (a.variant != b.variant || a.config != b.config) return false;
  return !a.config.empty() ||
         (a.role == b.role && a.schedule == b.schedule && a.matches == b.matches);
}

std::string summary_line(const GroupResult& g) {
  const Row* fastest = nullptr;
  int bad = 0;
  for (const Row& r : g.rows) {
    if (r.status == RowStatus::failed || r.status == RowStatus::crashed) ++bad;
    if (r.status == RowStatus::ok && r.time_ms && r.role != Role::comparator &&
        (fastest == nullptr || r.time_ms->median < fastest->time_ms->median)) {
      fastest = &r;
    }
  }
  std::string line = fastest == nullptr
                         ? fmt::format("{} rows", g.rows.size())
                         : fmt::format("fastest {} ({}) {:.4g} ms, {} rounds, {}", fastest->variant,
                                       fastest->config, fastest->time_ms->median, g.rounds,
                                       word_of(g.stop_reason));
  if (bad > 0) line += fmt::format(", {} FAILED", bad);
  for (const Invalidity& i : g.invalid) line += fmt::format(", INVALID ({})", word_of(i.kind));
  return line;
}

/// Their machine code is read before anything is timed, by all cores at once: app by app, behind
/// its first group, one large module after the other is waited for.
std::vector<std::string> apps_to_measure(const std::vector<PlannedGroup>& plan,
                                         const std::set<std::string>& finished) {
  std::set<std::string> apps;
  for (const PlannedGroup& group : plan) {
    if (!finished.contains(group.key.to_string())) apps.insert(group.key.app);
  }
  return {apps.begin(), apps.end()};
}

/// Why the device does not answer any more; "" where it does. Asked when a row crashed: it may have
/// taken the device along, and then no other group can be measured.
std::string lost_device(const GroupResult& result, const SessionOptions& options) {
  const bool crashed = std::any_of(result.rows.begin(), result.rows.end(),
                                   [](const Row& row) { return row.status == RowStatus::crashed; });
  if (!crashed || options.in_process) return "";
  try {
    query_in_child(options);
    return "";
  } catch (const NoDevice& error) {
    return error.what();
  }
}

/// A microbenchmark none of whose points ran, with the reason on each.
MicrobenchmarkResult without_points(const PlannedMicrobenchmark& plan,
                                    const std::vector<Point>& points, RowStatus status,
                                    const std::string& reason) {
  const Microbenchmark& m = *find_microbenchmark(plan.name);
  MicrobenchmarkResult result;
  result.name = m.name;
  result.question = m.question;
  result.method = m.method;
  result.scope = plan.scope;
  result.warnings.push_back(reason);
  for (const Point& p : points) {
    MicrobenchmarkRow row;
    row.at = p.at;
    row.quantity = p.quantity;
    row.unit = p.unit;
    row.larger_is_better = p.larger_is_better;
    row.status = status;
    row.reason = reason;
    result.rows.push_back(std::move(row));
  }
  return result;
}

std::string summary_line(const MicrobenchmarkResult& result) {
  int ok = 0, skipped = 0, bad = 0;
  for (const MicrobenchmarkRow& row : result.rows) {
    ok += row.status == RowStatus::ok;
    skipped += row.status == RowStatus::skipped;
    bad += row.status == RowStatus::failed || row.status == RowStatus::crashed;
  }
  std::string line = fmt::format("{} points in {:.1f} s", ok, result.wall_s);
  if (skipped > 0) line += fmt::format(", {} skipped", skipped);
  if (bad > 0) line += fmt::format(", {} FAILED", bad);
  return line;
}

}  // namespace

Provenance query_in_child(const SessionOptions& options) {
  const ChildOutcome outcome = perform(Json{{"task", "device"}, {"index", options.device_index}},
                                       device_seconds, options, [](const std::string&) {});
  if (outcome.interrupted) throw Interrupted();
  if (outcome.usage_error) throw UsageError(outcome.failure);
  if (!outcome.finished) throw NoDevice(outcome.failure);
  return provenance_from_json(outcome.result);
}

Verdict check_reference(const std::string& app, const Parameters& size, std::uint64_t seed,
                        const SessionOptions& options) {
  const ChildOutcome outcome = perform(reference_task(app, size, seed), options.step_seconds,
                                       options, [](const std::string&) {});
  if (outcome.interrupted) throw Interrupted();
  if (outcome.usage_error) throw UsageError(outcome.failure);
  if (outcome.finished) return verdict_from_json(outcome.result);
  Verdict none;
  none.norm = "no verdict";
  none.first_mismatches.push_back(
      outcome.failure +
      (outcome.timed_out ? ": choose a smaller --size or a longer --group-timeout" : ""));
  return none;
}

GroupResult run_isolated(PlannedGroup plan, const SessionOptions& options, const LineSink& on_line,
                         bool& was_interrupted) {
  const auto run = [&](const Json& task, double seconds) {
    return perform(task, seconds, options, on_line);
  };
  return run_isolated(std::move(plan), options, run, on_line, was_interrupted);
}

GroupResult run_isolated(PlannedGroup plan, const SessionOptions& options, const TaskRunner& run,
                         const LineSink& on_line, bool& was_interrupted) {
  bool tried_again = false;
  for (;;) {
    const ChildOutcome outcome = run(group_task(plan, options.device_index), options.step_seconds);
    if (outcome.finished) {
      try {
        GroupResult result = group_from_json(outcome.result);
        warn_of_printing(result, plan, outcome);
        summarise(result, plan.effort.confidence);
        return result;
      } catch (const ResultError& error) {
        return group_without_rows(plan, RowStatus::crashed, no_answer(error));
      }
    }
    if (outcome.interrupted) {
      was_interrupted = true;
      return group_without_rows(plan, RowStatus::skipped, "interrupted");
    }
    if (outcome.usage_error) throw UsageError(outcome.failure);
    if (deserves_another_try(outcome, tried_again, on_line)) continue;
    const auto culprit = static_cast<std::size_t>(outcome.row);
    if (outcome.row < 0 || culprit >= plan.rows.size() || !plan.rows[culprit].excluded.empty()) {
      return group_without_rows(
          plan, RowStatus::crashed,
          outcome.row < 0 ? fmt::format("{}, before a row ran (its instance is made at {})",
                                        outcome.failure, place_of(plan.key.app))
                          : outcome.failure);
    }
    const std::string failure =
        fmt::format("{} ({})", outcome.failure, place_of(plan.rows[culprit].variant));
    on_line(fmt::format("{} ({}) took the process down; going on without it",
                        plan.rows[culprit].variant, word_of(plan.rows[culprit].role)));
    // The same code would crash again in its other rows of the same config: the A/A control.
    for (PlannedRow& row : plan.rows) {
      if (runs_the_same(row, plan.rows[culprit])) row.excluded = failure;
    }
    plan.rows[culprit].excluded = failure;
  }
}

GroupResult run_judged(const PlannedGroup& plan, const SessionOptions& options,
                       const std::function<void(GroupResult&)>& complete, Circumstances& around,
                       const LineSink& on_line, bool& was_interrupted) {
  std::vector<Invalidity> first;
  for (;;) {
    GroupResult result = run_isolated(plan, options, on_line, was_interrupted);
    if (was_interrupted) return result;
    complete(result);
    std::vector<Invalidity> invalid = invalidities_of(result, around);
    learn(around, result);
    if (worth_repeating(invalid) && first.empty()) {
      on_line(fmt::format("not valid ({}); measuring it again", to_string(invalid.front())));
      first = std::move(invalid);
      continue;
    }
    result.repeated_because = std::move(first);
    mark(result, std::move(invalid));
    return result;
  }
}

MicrobenchmarkResult run_isolated(PlannedMicrobenchmark plan, const Device& device,
                                  const SessionOptions& options, const LineSink& on_line,
                                  bool& was_interrupted) {
  const std::vector<Point> points = planned_points(plan, device);
  // Of a point nothing is heard between its first sample and its last.
  const double limit = plan.effort.seconds + 1 + options.step_seconds;
  bool tried_again = false;
  for (;;) {
    const Json task{
        {"task", "microbenchmark"}, {"index", options.device_index}, {"plan", to_json(plan)}};
    const ChildOutcome outcome = perform(task, limit, options, on_line);
    if (outcome.finished) {
      try {
        MicrobenchmarkResult result = microbenchmark_from_json(outcome.result);
        summarise(result, plan.effort.confidence);
        return result;
      } catch (const ResultError& error) {
        return without_points(plan, points, RowStatus::crashed, no_answer(error));
      }
    }
    if (outcome.interrupted) {
      was_interrupted = true;
      return without_points(plan, points, RowStatus::skipped, "interrupted");
    }
    if (outcome.usage_error) throw UsageError(outcome.failure);
    if (deserves_another_try(outcome, tried_again, on_line)) continue;
    const auto culprit = static_cast<std::size_t>(outcome.row);
    if (outcome.row < 0 || culprit >= points.size() || plan.is_excluded(culprit)) {
      return without_points(plan, points, RowStatus::crashed, outcome.failure);
    }
    on_line(fmt::format("{} [{}] took the process down; going on without it", plan.name,
                        to_string(points[culprit].at)));
    plan.excluded.resize(std::max(plan.excluded.size(), culprit + 1));
    plan.excluded[culprit] = outcome.failure;
  }
}

SessionOutcome run_session(const std::vector<PlannedGroup>& plan, Provenance provenance,
                           const SessionOptions& options,
                           const std::vector<PlannedMicrobenchmark>& microbenchmarks) {
  SessionOutcome outcome;
  outcome.file.provenance = std::move(provenance);
  ResultFile& file = outcome.file;

  std::optional<Journal> journal;
  std::set<std::string> finished;
  if (!options.out.empty()) {
    journal.emplace(Journal::open(options.out, file.provenance, options.existing));
    file.ceilings = journal->ceilings();
    file.groups = journal->groups();
    file.microbenchmarks = journal->microbenchmarks();
    for (const GroupResult& g : file.groups) finished.insert(g.key.to_string());
    for (const MicrobenchmarkResult& m : file.microbenchmarks) {
      finished.insert("microbench/" + m.name);
    }
  }

  double expected = expected_ceiling_seconds;
  for (const PlannedGroup& g : plan) expected += expected_seconds(g);
  const Device& device = file.provenance.device;
  std::vector<double> expected_of;
  for (const PlannedMicrobenchmark& m : microbenchmarks) {
    expected_of.push_back(expected_seconds(m, planned_points(m, device).size()));
    expected += expected_of.back();
  }
  Progress progress(static_cast<int>(plan.size() + microbenchmarks.size()) + 1, expected);
  const auto note = [&](const std::string& line) { progress.note(line); };

  if (journal && !journal->damaged().empty()) {
    for (const std::string& what : journal->damaged()) {
      print_prose("not believed, and measured again: {}\n", what);
    }
    print_prose("the journal as it was is kept in {}.journal.damaged\n", options.out);
  }

  CodeEvidence code(executable_path(), device.compute_capability);
  if (const std::vector<std::string> apps = apps_to_measure(plan, finished); apps.size() > 1) {
    code.read_ahead(apps);
  }

  Circumstances around;
  around.state_at_start = file.provenance.device_state;
  for (const GroupResult& g : file.groups) learn(around, g);
  progress.begin("ceilings of this GPU", expected_ceiling_seconds);
  if (file.ceilings.empty() && options.ceilings) {
    ChildOutcome measured;
    // What cannot be, or is out of line, is measured once more.
    for (int attempt = 0; attempt < 2; ++attempt) {
      measured = perform(
          Json{{"task", "ceilings"}, {"index", options.device_index}, {"samples", ceiling_samples}},
          ceiling_seconds, options, note);
      if (!measured.finished) break;
      file.ceilings.clear();
      for (const Json& c : measured.result) file.ceilings.push_back(ceiling_from_json(c));
      around.ceilings = ceilings_in_doubt(file.ceilings, device, options.records);
      if (around.ceilings.empty()) break;
      note(to_string(around.ceilings.front()) + "; measuring them again");
    }
    if (!file.ceilings.empty() && journal) journal->append(file.ceilings);
    outcome.interrupted = measured.interrupted;
    const std::string doubts =
        around.ceilings.empty() ? "" : fmt::format(", {} in doubt", around.ceilings.size());
    progress.end(measured.finished ? fmt::format("{} measured{}", file.ceilings.size(), doubts)
                                   : "not measured: " + measured.failure);
  } else {
    around.ceilings = ceilings_in_doubt(file.ceilings, device, options.records);
    progress.end(file.ceilings.empty() ? "left out" : "from the journal");
  }

  Completion completion(device, file.ceilings, std::move(code));
  // Groups of a journal whose ceilings were not believed have lost their floors with them.
  for (GroupResult& group : file.groups) {
    if (!group.floor) completion.bound(group);
  }

  for (std::size_t i = 0; i < microbenchmarks.size(); ++i) {
    if (outcome.interrupted || interrupted()) {
      outcome.interrupted = true;
      break;
    }
    const PlannedMicrobenchmark& m = microbenchmarks[i];
    if (finished.contains("microbench/" + m.name)) continue;
    progress.begin(m.name, expected_of[i]);
    MicrobenchmarkResult result = run_isolated(m, device, options, note, outcome.interrupted);
    if (outcome.interrupted) {
      progress.end("interrupted");
      break;
    }
    completion.complete(result, planned_points(m, device));
    if (journal) journal->append(result);
    progress.end(summary_line(result));
    file.microbenchmarks.push_back(std::move(result));
  }

  for (const PlannedGroup& group : plan) {
    if (outcome.interrupted || interrupted()) {
      outcome.interrupted = true;
      break;
    }
    if (finished.contains(group.key.to_string())) continue;
    progress.begin(group.key.to_string(), expected_seconds(group));
    const Stopwatch watch;
    GroupResult result;
    const std::int64_t needed = find_app(group.key.app)->device_bytes(group.key.size);
    const auto available = static_cast<std::int64_t>(file.provenance.device.free_bytes);
    if (needed > available) {
      result = group_without_rows(
          group, RowStatus::skipped,
          fmt::format("needs {} bytes of device memory, {} are available", needed, available));
      completion.complete(result);
      ++outcome.skipped_groups;
    } else {
      result = run_judged(
          group, options, [&](GroupResult& g) { completion.complete(g); }, around, note,
          outcome.interrupted);
      if (!outcome.interrupted) outcome.device_lost = lost_device(result, options);
      if (outcome.interrupted || !outcome.device_lost.empty()) {
        progress.end(outcome.interrupted ? "interrupted" : "the GPU does not answer any more");
        break;
      }
    }
    if (const std::string jump = clock_jump(watch.seconds(), watch.system_seconds());
        !jump.empty()) {
      result.warnings.push_back(jump);
    }
    if (journal) journal->append(result);
    progress.end(summary_line(result));
    file.groups.push_back(std::move(result));
  }
  if (journal && !outcome.interrupted && outcome.device_lost.empty()) journal->finish(file);
  return outcome;
}

}  // namespace amasia
