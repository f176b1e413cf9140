#include "harness/session/session.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "harness/evidence/evidence.hpp"
#include "harness/results/floor.hpp"
#include "harness/process/isolation.hpp"
#include "harness/results/journal.hpp"
#include "harness/session/measured.hpp"
#include "harness/session/progress.hpp"
#include "harness/text/file.hpp"
#include "harness/results/provenance.hpp"
#include "harness/registry.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;
using LineSink = std::function<void(const std::string&)>;

constexpr int ceiling_samples = 11;
constexpr double ceiling_seconds = 60;
constexpr double device_seconds = 60;  // a first context on a big machine can take many seconds

ChildOutcome perform(const Json& task, double seconds, const SessionOptions& options,
                     const LineSink& on_line) {
  return options.in_process ? run_in_process(task, on_line) : run_in_child(task, seconds, on_line);
}

/// A group none of whose rows ran, with the reason on each.
GroupResult group_without_rows(const PlannedGroup& plan, RowStatus status,
                               const std::string& reason) {
  GroupResult g;
  g.key = plan.key;
  g.preset = plan.preset;
  g.seed = plan.seed;
  g.work = find_app(plan.key.app)->work(plan.key.size);
  g.stop_reason = reason;
  g.warnings.push_back(reason);
  for (const PlannedRow& p : plan.rows) {
    Row row;
    row.variant = p.variant;
    row.role = p.role;
    row.repeat = p.repeat;
    row.config = p.config;
    row.config_source = p.config_source;
    row.status = status;
    row.reason = reason;
    g.rows.push_back(std::move(row));
  }
  return g;
}

std::string summary_line(const GroupResult& g) {
  const Row* fastest = nullptr;
  int bad = 0;
  for (const Row& r : g.rows) {
    if (r.status == RowStatus::failed || r.status == RowStatus::crashed) ++bad;
    if (r.status == RowStatus::ok && r.time_ms && r.role != "comparator" &&
        (fastest == nullptr || r.time_ms->median < fastest->time_ms->median)) {
      fastest = &r;
    }
  }
  std::string line =
      fastest == nullptr
          ? fmt::format("{} rows", g.rows.size())
          : fmt::format("fastest {} ({}) {:.4g} ms, {} rounds, {}", fastest->variant,
                        fastest->config, fastest->time_ms->median, g.rounds, g.stop_reason);
  if (bad > 0) line += fmt::format(", {} FAILED", bad);
  return line;
}

/// Adds what only the parent knows: floors from the ceilings, digests, instruction counts.
void complete(GroupResult& group, const std::vector<Ceiling>& ceilings, CodeEvidence& evidence) {
  group.floor = compute_floor(group.work, ceilings);
  std::vector<std::string> kernels;
  for (const Row& row : group.rows) {
    for (const KernelEvidence& k : row.evidence) kernels.push_back(k.kernel);
  }
  evidence.read(kernels);
  for (Row& row : group.rows) {
    row.source_digest = source_digest(row.variant);
    if (group.floor && row.time_ms) {
      row.floor_fraction = group.floor->floor_ms() / row.time_ms->median;
    }
    for (KernelEvidence& k : row.evidence) {
      const CodeEvidence::Kernel code = evidence.of(k.kernel);
      k.source = code.source;
      k.instructions = code.instructions;
    }
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
  result.scope = plan.scope == Scope::quick ? "quick" : "full";
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
  if (outcome.usage_error) throw UsageError(outcome.failure);
  if (!outcome.finished) throw NoDevice(outcome.failure);
  return provenance_from_json(outcome.result);
}

GroupResult run_isolated(PlannedGroup plan, const SessionOptions& options, const LineSink& on_line,
                         bool& was_interrupted) {
  const double limit = plan.effort.seconds + options.extra_seconds;
  for (;;) {
    const Json task{{"task", "group"}, {"index", options.device_index}, {"plan", to_json(plan)}};
    const ChildOutcome outcome = perform(task, limit, options, on_line);
    if (outcome.finished) return group_from_json(outcome.result);
    if (outcome.interrupted) {
      was_interrupted = true;
      return group_without_rows(plan, RowStatus::skipped, "interrupted");
    }
    if (outcome.usage_error) throw UsageError(outcome.failure);
    const auto culprit = static_cast<std::size_t>(outcome.row);
    if (outcome.row < 0 || culprit >= plan.rows.size() || !plan.rows[culprit].excluded.empty()) {
      return group_without_rows(plan, RowStatus::crashed, outcome.failure);
    }
    on_line(fmt::format("{} ({}) took the process down; going on without it",
                        plan.rows[culprit].variant, plan.rows[culprit].role));
    // The same code would crash again in its other rows of the same config: the A/A control.
    for (PlannedRow& row : plan.rows) {
      if (row.variant == plan.rows[culprit].variant && row.config == plan.rows[culprit].config &&
          &row != &plan.rows[culprit]) {
        row.excluded = outcome.failure;
      }
    }
    plan.rows[culprit].excluded = outcome.failure;
  }
}

MicrobenchmarkResult run_isolated(PlannedMicrobenchmark plan, const Device& device,
                                  CodeEvidence& evidence, const SessionOptions& options,
                                  const LineSink& on_line, bool& was_interrupted) {
  const std::vector<Point> points = planned_points(plan, device);
  // A point takes its samples, the unrecorded one and its preparation: gigabytes to lay out.
  const double limit =
      static_cast<double>(points.size()) * (plan.effort.seconds + 1) + options.extra_seconds;
  for (;;) {
    const Json task{
        {"task", "microbenchmark"}, {"index", options.device_index}, {"plan", to_json(plan)}};
    const ChildOutcome outcome = perform(task, limit, options, on_line);
    if (outcome.finished) {
      MicrobenchmarkResult result = microbenchmark_from_json(outcome.result);
      result.source_digest = source_digest(result.name);
      summarise(result, plan.effort.confidence);
      prove(result, points, evidence);
      find(result, device);
      return result;
    }
    if (outcome.interrupted) {
      was_interrupted = true;
      return without_points(plan, points, RowStatus::skipped, "interrupted");
    }
    if (outcome.usage_error) throw UsageError(outcome.failure);
    if (outcome.row < 0 || static_cast<std::size_t>(outcome.row) >= points.size() ||
        plan.excluded.contains(outcome.row)) {
      return without_points(plan, points, RowStatus::crashed, outcome.failure);
    }
    on_line(fmt::format("{} [{}] took the process down; going on without it", plan.name,
                        to_string(points[static_cast<std::size_t>(outcome.row)].at)));
    plan.excluded[outcome.row] = outcome.failure;
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
    journal.emplace(Journal::open(options.out, file.provenance, options.resume));
    file.ceilings = journal->ceilings();
    file.groups = journal->groups();
    file.microbenchmarks = journal->microbenchmarks();
    for (const GroupResult& g : file.groups) finished.insert(g.key.to_string());
    for (const MicrobenchmarkResult& m : file.microbenchmarks) {
      finished.insert("microbench/" + m.name);
    }
  }

  double expected = ceiling_seconds / 6;
  for (const PlannedGroup& g : plan) expected += expected_seconds(g);
  const Device& device = file.provenance.device;
  std::vector<double> expected_of;
  for (const PlannedMicrobenchmark& m : microbenchmarks) {
    expected_of.push_back(expected_seconds(m, planned_points(m, device).size()));
    expected += expected_of.back();
  }
  Progress progress(static_cast<int>(plan.size() + microbenchmarks.size()) + 1, expected);
  const auto note = [&](const std::string& line) { progress.note(line); };

  progress.begin("ceilings of this GPU", ceiling_seconds / 6);
  if (file.ceilings.empty() && options.ceilings) {
    const ChildOutcome measured = perform(
        Json{{"task", "ceilings"}, {"index", options.device_index}, {"samples", ceiling_samples}},
        ceiling_seconds, options, note);
    if (measured.finished) {
      for (const Json& c : measured.result) file.ceilings.push_back(ceiling_from_json(c));
      if (journal) journal->append(file.ceilings);
    }
    outcome.interrupted = measured.interrupted;
    progress.end(measured.finished ? fmt::format("{} measured", file.ceilings.size())
                                   : "not measured: " + measured.failure);
  } else {
    progress.end(file.ceilings.empty() ? "left out" : "from the journal");
  }

  CodeEvidence evidence(executable_path(), file.provenance.device.compute_capability);

  for (std::size_t i = 0; i < microbenchmarks.size(); ++i) {
    if (outcome.interrupted || interrupted()) {
      outcome.interrupted = true;
      break;
    }
    const PlannedMicrobenchmark& m = microbenchmarks[i];
    if (finished.count("microbench/" + m.name) > 0) continue;
    progress.begin(m.name, expected_of[i]);
    MicrobenchmarkResult result =
        run_isolated(m, device, evidence, options, note, outcome.interrupted);
    if (outcome.interrupted) {
      progress.end("interrupted");
      break;
    }
    if (journal) journal->append(result);
    progress.end(summary_line(result));
    file.microbenchmarks.push_back(std::move(result));
  }

  for (const PlannedGroup& group : plan) {
    if (outcome.interrupted || interrupted()) {
      outcome.interrupted = true;
      break;
    }
    if (finished.count(group.key.to_string()) > 0) continue;
    progress.begin(group.key.to_string(), expected_seconds(group));
    GroupResult result;
    const std::int64_t needed = find_app(group.key.app)->device_bytes(group.key.size);
    const auto available = static_cast<std::int64_t>(file.provenance.device.free_bytes);
    if (needed > available) {
      result = group_without_rows(
          group, RowStatus::skipped,
          fmt::format("needs {} bytes of device memory, {} are available", needed, available));
      ++outcome.skipped_groups;
    } else {
      result = run_isolated(group, options, note, outcome.interrupted);
      if (outcome.interrupted) {
        progress.end("interrupted");
        break;
      }
    }
    complete(result, file.ceilings, evidence);
    if (journal) journal->append(result);
    progress.end(summary_line(result));
    file.groups.push_back(std::move(result));
  }
  if (journal && !outcome.interrupted) journal->finish(file);
  return outcome;
}

}  // namespace amasia
