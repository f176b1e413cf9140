// Every field of a plan as it travels to the child process, and of a tuning file.
#pragma once

#include "harness/plan/plan.hpp"
#include "harness/plan/tuning.hpp"
#include "harness/results/fields.hpp"

namespace amasia {

template <>
struct Fields<Effort> {
  static constexpr std::string_view name = "effort";
  static constexpr auto list =
      fields(field("min_rounds", &Effort::min_rounds), field("max_rounds", &Effort::max_rounds),
             field("seconds", &Effort::seconds), field("patience", &Effort::patience),
             field("precision", &Effort::precision), field("confidence", &Effort::confidence),
             field("energy", &Effort::energy), field("verify_only", &Effort::verify_only),
             field("count_only", &Effort::count_only));
};

template <>
struct Fields<PointEffort> {
  static constexpr std::string_view name = "point_effort";
  static constexpr auto list = fields(
      field("min_samples", &PointEffort::min_samples),
      field("max_samples", &PointEffort::max_samples), field("seconds", &PointEffort::seconds),
      field("precision", &PointEffort::precision), field("confidence", &PointEffort::confidence));
};

template <>
struct Fields<ScheduleWinner> {
  static constexpr std::string_view name = "schedule_winner";
  static constexpr auto list =
      fields(field("schedule", &ScheduleWinner::schedule), field("config", &ScheduleWinner::config),
             field("source", &ScheduleWinner::source));
};

template <>
struct Fields<PlannedRow> {
  static constexpr std::string_view name = "planned_row";
  static constexpr auto list = fields(
      field("variant", &PlannedRow::variant), field("role", &PlannedRow::role),
      field("repeat", &PlannedRow::repeat), field("config", &PlannedRow::config),
      field("config_source", &PlannedRow::config_source), field("excluded", &PlannedRow::excluded),
      field("schedule", &PlannedRow::schedule), field("matches", &PlannedRow::matches),
      field("by_schedule", &PlannedRow::by_schedule));
};

template <>
struct Fields<PlannedGroup> {
  static constexpr std::string_view name = "planned_group";
  static constexpr auto list =
      fields(field("key", &PlannedGroup::key), field("preset", &PlannedGroup::preset),
             field("seed", &PlannedGroup::seed), field("effort", &PlannedGroup::effort),
             field("rows", &PlannedGroup::rows));
};

template <>
struct Fields<PlannedMicrobenchmark> {
  static constexpr std::string_view name = "planned_microbenchmark";
  static constexpr auto list = fields(
      field("name", &PlannedMicrobenchmark::name), field("scope", &PlannedMicrobenchmark::scope),
      field("effort", &PlannedMicrobenchmark::effort), field("only", &PlannedMicrobenchmark::only),
      field("asked", &PlannedMicrobenchmark::asked),
      field("excluded", &PlannedMicrobenchmark::excluded));
};

template <>
struct Fields<TuningCandidate> {
  static constexpr std::string_view name = "candidate";
  static constexpr Rules of_time{.optional = true, .least = 0, .above = true};
  static constexpr auto list =
      fields(field("config", &TuningCandidate::config), field("status", &TuningCandidate::status),
             field("reason", &TuningCandidate::reason),
             field("median_ms", &TuningCandidate::median_ms, of_time),
             field("low_ms", &TuningCandidate::low_ms, of_time),
             field("high_ms", &TuningCandidate::high_ms, of_time),
             field("n", &TuningCandidate::n, {.optional = true, .least_integer = 1}));
};

template <>
struct Fields<TuningEntry> {
  static constexpr std::string_view name = "winner";
  static constexpr auto list =
      fields(field("device", &TuningEntry::device), field("variant", &TuningEntry::variant),
             field("size", &TuningEntry::size), field("cache", &TuningEntry::cache),
             field("launch", &TuningEntry::launch), field("config", &TuningEntry::config),
             field("equal", &TuningEntry::equal, {.optional = true}),
             field("source_digest", &TuningEntry::source_digest),
             field("date_utc", &TuningEntry::date_utc), field("table", &TuningEntry::table));
};

template <>
struct Fields<TunedDevice> {
  static constexpr std::string_view name = "tuned_device";
  static constexpr auto list =
      fields(field("name", &TunedDevice::name),
             field("compute_capability", &TunedDevice::compute_capability, {.least_integer = 1}),
             field("sm_count", &TunedDevice::sm_count, {.least_integer = 1}));
};

}  // namespace amasia
