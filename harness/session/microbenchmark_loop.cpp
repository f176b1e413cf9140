#include "harness/session/microbenchmark_loop.hpp"

#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "harness/session/stopwatch.hpp"
#include "harness/statistics/stopping_rule.hpp"

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

/// The reason why this point cannot run here, "" when it can.
std::string obstacle(const Point& point, const Device& device) {
  if (!point.unsupported.empty()) return point.unsupported;
  if (device.compute_capability < point.runs_from) {
    return fmt::format("needs compute capability {}.{}, this is {}.{}", point.runs_from / 10,
                       point.runs_from % 10, device.compute_capability / 10,
                       device.compute_capability % 10);
  }
  return "";
}

/// Samples until the interval is narrow, or the limit.
void sample(const Sampling& sampling, const StoppingRule& rule, MicrobenchmarkRow& row) {
  sampling();  // unrecorded: module load, first touch, clocks
  const Stopwatch watch;
  std::vector<double> values;
  for (;;) {
    const Reading reading = sampling();
    if (!(reading.value > 0) || !std::isfinite(reading.value)) {
      row.status = RowStatus::failed;
      row.reason =
          fmt::format("read {} {}, which no {} can be", reading.value, row.unit, row.quantity);
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
    MicrobenchmarkRow row;
    row.at = point.at;
    row.quantity = point.quantity;
    row.unit = point.unit;
    row.larger_is_better = point.larger_is_better;
    row.remark = point.remark;
    const auto excluded = plan.excluded.find(index);
    const std::string reason = obstacle(point, device);
    if (excluded != plan.excluded.end()) {
      row.status = RowStatus::crashed;
      row.reason = excluded->second;
    } else if (!reason.empty()) {
      row.status = RowStatus::skipped;
      row.reason = reason;
    } else {
      progress(index, fmt::format("point {}/{}: {}", i + 1, points.size(), to_string(point.at)));
      try {
        for (const KernelUse& k : point.kernels) {
          row.evidence.push_back(instrument.resources_of(k));
        }
        sample(point.prepare(device, instrument.stream()), rule, row);
      } catch (const Unavailable& error) {
        row.status = RowStatus::skipped;
        row.reason = error.what();
      } catch (const std::runtime_error& error) {
        const Trouble trouble = instrument.trouble_of(error);
        if (trouble == Trouble::device) throw;
        row.status = trouble == Trouble::no_memory ? RowStatus::skipped : RowStatus::failed;
        row.reason = error.what();
      }
      if (row.status != RowStatus::ok) row.samples.clear();
    }
    result.rows.push_back(std::move(row));
  }
  result.wall_s = watch.seconds();
  return result;
}

}  // namespace amasia
