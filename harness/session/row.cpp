#include "harness/session/row.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "harness/registry.hpp"

namespace amasia {
namespace {

/// A sample this much slower in clock than the fastest of its row was throttled, whatever NVML
/// says.
constexpr double throttled_clock_share = 0.90;

const Row* right_row(const std::string& variant, Role role, const std::vector<Row>& rows) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
    return row.variant == variant && row.role == role && row.repeat == 0 &&
           row.status == RowStatus::ok;
  });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<PlannedRow> decided_match(PlannedRow planned, const std::vector<Row>& rows) {
  const Row* matched = right_row(planned.matches, Role::best, rows);
  const Row* own = right_row(planned.variant, Role::best, rows);
  if (matched == nullptr || own == nullptr || matched->schedule.empty() || own->schedule.empty() ||
      own->schedule == matched->schedule) {
    return {};
  }
  for (const Row& row : rows) {
    if (row.variant == planned.variant && row.role == Role::matched &&
        row.schedule == matched->schedule) {
      return {};
    }
  }
  planned.schedule = matched->schedule;
  return planned;
}

std::optional<PlannedRow> decided_counterpart(PlannedRow planned, const std::vector<Row>& rows) {
  const Row* spelling = right_row(planned.matches, Role::comparator, rows);
  if (spelling == nullptr) return {};
  for (const Row& row : rows) {
    if (row.variant == planned.variant && row.config == spelling->config &&
        row.role != Role::cross) {
      return {};
    }
  }
  planned.config = spelling->config;
  planned.config_source = "that of " + planned.matches;
  return planned;
}

}  // namespace

std::optional<PlannedRow> decided(const PlannedRow& planned, const std::vector<Row>& rows) {
  if (planned.matches.empty()) return planned;
  return planned.role == Role::counterpart ? decided_counterpart(planned, rows)
                                           : decided_match(planned, rows);
}

Row row_of(const PlannedRow& planned) {
  const std::string& schedule = planned.schedule;
  const Variant* const variant = find_variant(planned.variant);
  Row row;
  row.variant = planned.variant;
  row.role = planned.role;
  row.repeat = planned.repeat;
  row.config = planned.config;
  row.config_source = planned.config_source;
  row.schedule = schedule;
  if (variant != nullptr) row.spells = variant->spells;
  if (!schedule.empty()) {
    row.config_source = "built-in default";
    for (const ScheduleWinner& winner : planned.by_schedule) {
      if (winner.schedule != schedule) continue;
      row.config = winner.config;
      row.config_source = winner.source;
    }
  }
  if (!planned.excluded.empty()) {
    row.status = RowStatus::crashed;
    row.reason = planned.excluded;
  } else if (variant == nullptr) {
    row.status = RowStatus::skipped;
    row.reason = "not part of this program";
  } else if (std::string mistake = registration_mistake(planned.variant); !mistake.empty()) {
    row.status = RowStatus::failed;
    row.reason = std::move(mistake);
  }
  return row;
}

void verify_first(int index, Row& row, GroupInstrument& group, Instrument& instrument) {
  try {
    group.prepare(index, row);
    if (row.verdict && !row.verdict->passed) {
      row.status = RowStatus::failed;
      if (row.reason.empty()) row.reason = "wrong result";
    }
  } catch (const std::runtime_error& error) {
    if (instrument.trouble_of(error) != Trouble::no_memory) throw;
    row.status = RowStatus::skipped;
    row.reason = error.what();
  }
}

void judge_again(Row& row, Verdict after) {
  if (after.passed) return;
  row.status = RowStatus::failed;
  row.reason = "wrong result after timing, right before: a race";
  row.verdict = std::move(after);
}

ValidRun time_validly(const std::function<TimedRun()>& time, double& fastest_clock_mhz,
                      int attempts) {
  ValidRun run;
  bool is_time = false;
  for (int attempt = 0; attempt < throttled_attempts; ++attempt) {
    run.timed = time();
    is_time = std::isfinite(run.timed.time_ms) && run.timed.time_ms > 0;
    if (!is_time) continue;
    if (run.timed.sm_clock_mhz) {
      const double mhz = *run.timed.sm_clock_mhz;
      fastest_clock_mhz = std::max(fastest_clock_mhz, mhz);
      if (mhz < throttled_clock_share * fastest_clock_mhz) run.timed.throttled = true;
    }
    if (!run.timed.throttled) break;
    ++run.throttled_runs;
    if (attempt + 1 >= attempts) break;
  }
  if (!is_time) {
    run.failure = fmt::format(
        "the GPU's clock gave {} ms for a run, {} times in a row: it jumped, or the run did "
        "nothing",
        run.timed.time_ms, throttled_attempts);
  }
  return run;
}

MicrobenchmarkRow row_of(const Point& point, const Device& device) {
  MicrobenchmarkRow row;
  row.at = point.at;
  row.quantity = point.quantity;
  row.unit = point.unit;
  row.larger_is_better = point.larger_is_better;
  row.remark = point.remark;
  row.reason = point.unsupported;
  if (row.reason.empty() && device.compute_capability < point.runs_from) {
    row.reason = fmt::format("needs compute capability {}.{}, this is {}.{}", point.runs_from / 10,
                             point.runs_from % 10, device.compute_capability / 10,
                             device.compute_capability % 10);
  }
  if (!row.reason.empty()) row.status = RowStatus::skipped;
  return row;
}

Sampling prepare_point(const Point& point, Instrument& instrument, MicrobenchmarkRow& row) {
  for (const KernelUse& k : point.kernels) row.evidence.push_back(instrument.resources_of(k));
  Sampling sampling = point.prepare(instrument.device(), instrument.stream());
  sampling();  // unrecorded: module load, first touch, clocks
  return sampling;
}

std::string objection_to(const Reading& reading, const MicrobenchmarkRow& row) {
  if (reading.value > 0 && std::isfinite(reading.value)) return "";
  return fmt::format("read {} {}, which no {} can be", reading.value, row.unit, row.quantity);
}

}  // namespace amasia
