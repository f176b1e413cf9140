// What is going to run, decided before anything runs: groups of rows, in order. A plan is plain
// data; it travels as JSON to the child process that executes a group.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/plan/tuning.hpp"
#include "harness/results/result.hpp"
#include "harness/statistics/schedule.hpp"
#include "harness/variant.hpp"

namespace amasia {

/// How long and how precisely to measure one group.
struct Effort {
  int min_rounds = least_rounds;
  int max_rounds = 301;  // runs of a few microseconds need as many for `precision`; few others do
  double seconds = 20;   // wall-clock cap of the timed part
  double patience = 1;   // times the seconds, if enough rounds are reached by then
  double precision = 0.005;  // stop when every interval's half width is below this share
  double confidence = 0.95;  // joint, over all comparisons of the group
  bool energy = false;
  bool verify_only = false;
  bool count_only = false;  // under a profiler: every right row once between its marks, no time
};

/// The same for one point of a microbenchmark.
struct PointEffort {
  int min_samples = 7;  // 6 is the least for a sign-test interval at 95 %
  int max_samples = 51;
  double seconds = 0.4;      // wall-clock cap of the samples of one point
  double precision = 0.005;  // stop when the interval's half width is below this share
  double confidence = 0.95;
};

/// What was asked for; the rest is the command's or the study's own.
struct EffortAsked {
  std::optional<int> min_rounds{}, max_rounds{};
  std::optional<double> seconds{}, precision{}, confidence{};
  bool energy = false;
};

/// `own` with what was asked for in its place. A cap below the least number of rounds lowers that,
/// unless it was asked for, too: then they contradict each other (UsageError).
Effort effort_of(const EffortAsked& asked, Effort own);

/// As the provenance of a result has it.
std::map<std::string, std::string> settings_of(const Effort& effort);

/// A row before it runs: which variant in which config and role.
struct PlannedRow {
  std::string variant{};
  Role role = Role::iso;
  int repeat = 0;        // 1: the A/A control
  std::string config{};  // "" with role best: the first that device and problem support
  std::string config_source{};
  std::string excluded{};  // why it must not run (it crashed before): becomes status crashed
  std::string schedule{};  // cross: the schedule to run
  /// matched: runs with the schedule of this variant's row `best`, which only the device can tell;
  /// counterpart: in the config of this comparator's row. The row falls away where it would repeat
  /// one that is there.
  std::string matches{};
  /// The best config known of each schedule, for a row whose schedule is not known yet.
  std::vector<ScheduleWinner> by_schedule{};
};

struct PlannedGroup {
  GroupKey key;
  std::optional<Preset> preset{};
  std::uint64_t seed = 0;
  Effort effort{};
  std::vector<PlannedRow> rows{};
};

/// A microbenchmark, or those of its points that a study asks for.
struct PlannedMicrobenchmark {
  std::string name;
  Scope scope = Scope::full;
  PointEffort effort{};
  /// Points whose coordinates have all of one of these pairs; empty: every point.
  std::vector<Coordinates> only{};
  /// Traits to measure instead of the points it has of its own, of one that takes any.
  std::vector<Coordinates> asked{};
  /// By point, as far as there are any: why it must not run (it crashed before).
  std::vector<std::string> excluded{};
  bool is_excluded(std::size_t point) const {
    return point < excluded.size() && !excluded[point].empty();
  }
};

/// The points of the plan on this device, in order. Throws UsageError for a microbenchmark that is
/// not part of the program, or takes no traits, or not these; std::logic_error for bad points.
std::vector<Point> planned_points(const PlannedMicrobenchmark& plan, const Device& device);

Json to_json(const PlannedMicrobenchmark&);
PlannedMicrobenchmark planned_microbenchmark_from_json(const Json&);

/// The rows of a comparison: selected variants at iso and best, the baseline twice (A/A),
/// comparators once. With matched also the baseline with the schedule of each strategy, and each
/// strategy with the baseline's or in a comparator's config. With cross every variant with every
/// schedule. The baseline is always there.
std::vector<PlannedRow> comparison_rows(const GroupKey& key,
                                        const std::vector<const Variant*>& selected,
                                        const std::vector<Role>& roles, const TuningTable& tuning,
                                        const std::string& device);

/// Every config of each selected variant, once: for `tune` and `verify`.
std::vector<PlannedRow> candidate_rows(const std::vector<const Variant*>& selected);

Json to_json(const PlannedGroup&);
PlannedGroup planned_group_from_json(const Json&);

/// Roughly what the group will take, for the ETA before anything was measured.
double expected_seconds(const PlannedGroup& group);
/// The same for `points` points of a microbenchmark.
double expected_seconds(const PlannedMicrobenchmark& plan, std::size_t points);

}  // namespace amasia
