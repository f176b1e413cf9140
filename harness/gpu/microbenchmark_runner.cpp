#include "harness/gpu/microbenchmark_runner.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "variants/device/cuda.hpp"
#include "harness/gpu/preparation.hpp"
#include "variants/device/launch.hpp"

namespace amasia {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
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
void sample(const Sampling& sampling, const PointEffort& effort, MicrobenchmarkRow& row) {
  sampling();  // unrecorded: module load, first touch, clocks
  const auto begin = Clock::now();
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
    const int n = static_cast<int>(row.samples.size());
    if (n >= effort.min_samples) {
      std::vector<double> values;
      for (const Reading& r : row.samples) values.push_back(r.value);
      const MedianInterval v = median_interval(std::move(values), effort.confidence);
      if (v.coverage >= effort.confidence &&
          (v.high - v.low) / (2 * v.median) <= effort.precision) {
        row.stop_reason = "interval narrow enough";
        return;
      }
    }
    if (n >= effort.max_samples) {
      row.stop_reason = "sample limit";
      return;
    }
    if (n >= effort.min_samples && seconds_since(begin) >= effort.seconds) {
      row.stop_reason = "time limit";
      return;
    }
  }
}

/// An error that a new call does not report again has not broken the context.
bool context_survives() {
  cudaGetLastError();
  return cudaDeviceSynchronize() == cudaSuccess;
}

}  // namespace

MicrobenchmarkResult run_microbenchmark(const PlannedMicrobenchmark& plan, const Device& device,
                                        const ProgressSink& progress) {
  const auto begin = Clock::now();
  const Microbenchmark& m = *find_microbenchmark(plan.name);
  const std::vector<Point> points = planned_points(plan, device);
  MicrobenchmarkResult result;
  result.name = m.name;
  result.question = m.question;
  result.method = m.method;
  result.scope = plan.scope == Scope::quick ? "quick" : "full";
  OwnedStream stream;
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
          // Not set yet: beyond 48 KiB, or in clusters of more than 8 blocks, the occupancy would be
          // that of a launch that is refused.
          LaunchShape shape;
          shape.dynamic_shared_bytes = k.dynamic_shared_bytes;
          shape.cluster_blocks = static_cast<unsigned>(k.cluster_blocks);
          allow_launch(k.function, shape);
          row.evidence.push_back(resources_of(k, device));
        }
        sample(point.prepare(device, stream), plan.effort, row);
      } catch (const OutOfMemory& error) {
        row.status = RowStatus::skipped;
        row.reason = error.what();
      } catch (const Unavailable& error) {
        row.status = RowStatus::skipped;
        row.reason = error.what();
      } catch (const CudaError& error) {
        if (!context_survives()) throw;
        row.status = RowStatus::failed;
        row.reason = error.what();
      } catch (const std::runtime_error& error) {
        row.status = RowStatus::failed;
        row.reason = error.what();
      }
      if (row.status != RowStatus::ok) row.samples.clear();
    }
    result.rows.push_back(std::move(row));
  }
  result.wall_s = seconds_since(begin);
  return result;
}

}  // namespace amasia
