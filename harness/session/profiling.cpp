#include "harness/session/profiling.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "harness/process/profiler.hpp"
#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"
#include "harness/session/progress.hpp"

namespace amasia {
namespace {

using LineSink = std::function<void(const std::string&)>;

ProfiledGroup without_counters(const GroupResult& ran) {
  ProfiledGroup group;
  group.key = ran.key;
  group.preset = ran.preset;
  group.seed = ran.seed;
  group.warnings = ran.warnings;
  for (const Row& row : ran.rows) {
    group.rows.push_back({row.variant,
                          row.role,
                          row.config,
                          row.schedule,
                          row.status,
                          row.reason,
                          source_digest(row.variant),
                          {}});
  }
  return group;
}

/// What was counted belongs to the rows that ran, in their order.
void add_counters(ProfiledGroup& group, const NcuOutput& counted) {
  const auto ran = std::count_if(group.rows.begin(), group.rows.end(), [](const ProfiledRow& row) {
    return row.status == RowStatus::ok;
  });
  if (static_cast<std::size_t>(ran) != counted.results.size()) {
    group.warnings.push_back(
        fmt::format("Nsight Compute counted {} times where {} rows ran: which is whose is not "
                    "known, so none has counters",
                    counted.results.size(), ran));
    return;
  }
  std::size_t next = 0;
  for (ProfiledRow& row : group.rows) {
    if (row.status == RowStatus::ok) {
      row.counters = counters_of(counted.results[next++]);
    }
  }
}

bool any_ran(const ProfiledGroup& group) {
  return std::any_of(group.rows.begin(), group.rows.end(),
                     [](const ProfiledRow& row) { return row.status == RowStatus::ok; });
}

/// The group, and in `obstacle` why nothing was counted in it.
ProfiledGroup profile_group(const PlannedGroup& plan, const std::string& ncu,
                            const SessionOptions& options, const LineSink& note,
                            bool& was_interrupted, std::string& obstacle) {
  NcuOutput counted;
  bool answered = false;
  const auto run = [&](const nlohmann::ordered_json& task, double seconds) {
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
  const auto counted =
      std::count_if(group.rows.begin(), group.rows.end(),
                    [](const ProfiledRow& row) { return row.counters.has_value(); });
  return fmt::format("counters of {} of {} rows", counted, group.rows.size());
}

}  // namespace

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
    if (std::any_of(outcome.file.groups.begin(), outcome.file.groups.end(), finished)) {
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

}  // namespace amasia
