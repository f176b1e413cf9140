#include "harness/session/microbenchmark_loop.hpp"

#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "harness/session/group_loop.hpp"
#include "harness/session/progress.hpp"
#include "harness/session/validity.hpp"
#include "harness/statistics/schedule.hpp"

namespace amasia {
namespace {

StoppingRule stopping_rule(const PointEffort& effort) {
  StoppingRule rule;
  rule.min_count = effort.min_samples;
  rule.max_count = effort.max_samples;
  rule.at_max_count = StopReason::sample_limit;
  rule.seconds = effort.seconds;
  rule.min_count_in_time = effort.min_samples;
  rule.precision = effort.precision;
  rule.confidence = effort.confidence;
  return rule;
}

/// Samples until the interval is narrow, or the limit.
void sample(const Sampling& sampling, const StoppingRule& rule, MicrobenchmarkRow& row) {
  const Stopwatch watch;
  std::vector<double> values;
  for (;;) {
    const Reading reading = sampling();
    if (const std::string why = objection_to(reading, row); !why.empty()) {
      row.status = RowStatus::failed;
      row.reason = why;
      row.samples.clear();
      return;
    }
    row.samples.push_back(reading);
    values.push_back(reading.value);
    const auto reason = rule.reason(static_cast<int>(values.size()), watch.seconds(),
                                    [&] { return rule.precise(values); });
    if (reason) {
      row.stop_reason = reason;
      return;
    }
  }
}

/// Puts what was thrown into the row's status. For use in a handler: throws it again where it broke
/// the device's context.
void note_trouble(const std::runtime_error& error, Instrument& instrument, MicrobenchmarkRow& row) {
  row.reason = error.what();
  if (dynamic_cast<const Unavailable*>(&error) != nullptr) {
    row.status = RowStatus::skipped;
    return;
  }
  const Trouble trouble = instrument.trouble_of(error);
  if (trouble == Trouble::device) throw;
  row.status = trouble == Trouble::no_memory ? RowStatus::skipped : RowStatus::failed;
}

}  // namespace

MicrobenchmarkResult run_microbenchmark(const PlannedMicrobenchmark& plan, Instrument& instrument,
                                        const ProgressSink& progress) {
  const Stopwatch watch;
  const Device& device = instrument.device();
  const Microbenchmark& m = *find_microbenchmark(plan.name);
  const std::vector<Point> points = planned_points(plan, device);
  const StoppingRule rule = stopping_rule(plan.effort);
  MicrobenchmarkResult result;
  result.name = m.name;
  result.question = m.question;
  result.method = m.method;
  result.scope = plan.scope;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[i];
    const int index = static_cast<int>(i);
    MicrobenchmarkRow row = row_of(point, device);
    if (plan.is_excluded(i)) {
      row.status = RowStatus::crashed;
      row.reason = plan.excluded[i];
    } else if (row.status == RowStatus::ok) {
      progress(index, fmt::format("point {}/{}: {}", i + 1, points.size(), to_string(point.at)));
      try {
        sample(prepare_point(point, instrument, row), rule, row);
      } catch (const std::runtime_error& error) {
        note_trouble(error, instrument, row);
      }
      if (row.status != RowStatus::ok) row.samples.clear();
    }
    result.rows.push_back(std::move(row));
  }
  if (const std::string who = instrument.other_processes(); !who.empty()) {
    if (auto why = interference_in({}, std::nullopt, who)) result.invalid = {std::move(*why)};
  }
  result.wall_s = watch.seconds();
  return result;
}

}  // namespace amasia
