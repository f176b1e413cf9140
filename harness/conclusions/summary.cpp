#include "harness/conclusions/summary.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/conclusions/claim.hpp"
#include "harness/conclusions/comparison.hpp"
#include "harness/statistics/interval_rule.hpp"

namespace amasia {
namespace {

/// What could not be computed is unknown, as it is written.
std::optional<double> known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// The median of a column of the readings; nothing unless every reading has it.
std::optional<double> median_of(const std::vector<Reading>& samples,
                                std::optional<double> Reading::*member) {
  std::vector<double> values;
  for (const Reading& r : samples) {
    if (r.*member) values.push_back(*(r.*member));
  }
  if (values.size() < samples.size() || values.empty()) return std::nullopt;
  return median_interval(std::move(values), 0.95).median;
}

}  // namespace

std::optional<double> share_of_floor(const std::optional<Floor>& floor, const Row& row) {
  if (!floor || !row.time_ms) return std::nullopt;
  return known(floor->floor_ms() / row.time_ms->median);
}

void recompute(GroupResult& group, double confidence) {
  for (Row& row : group.rows) {
    row.time_ms.reset();
    row.gflops.reset();
    row.gbytes_per_s.reset();
    const auto times = usable_times(row);
    if (row.status == RowStatus::ok && !times.empty()) {
      row.time_ms = time_of(row, confidence, group.interval_rule);
      const double seconds = row.time_ms->median * 1e-3;
      row.gflops = known(group.work.operations / seconds * 1e-9);
      row.gbytes_per_s = known((group.work.bytes_read + group.work.bytes_written) / seconds * 1e-9);
    }
    row.floor_fraction = share_of_floor(group.floor, row);
  }
  group.comparisons = compare_rows(group.rows, confidence, group.interval_rule);
  set_claims(group);
}

void judge_anew(GroupResult& group, double confidence) {
  const bool compares = std::any_of(group.rows.begin(), group.rows.end(), [](const Row& r) {
    return r.role != Role::candidate && r.time_ms;
  });
  if (!compares || group.interval_rule == newest_rule) {
    set_claims(group);  // of an earlier program: as it is now
    return;
  }
  group.interval_rule = newest_rule;
  recompute(group, confidence);
}

void recompute(MicrobenchmarkResult& result, double confidence) {
  for (MicrobenchmarkRow& row : result.rows) {
    row.value.reset();
    if (row.status == RowStatus::ok && !row.samples.empty()) {
      std::vector<double> values;
      for (const Reading& r : row.samples) values.push_back(r.value);
      row.value = median_interval(std::move(values), confidence);
    }
    row.cycles = median_of(row.samples, &Reading::cycles);
    row.time_ns = median_of(row.samples, &Reading::time_ns);
    row.clock_mhz = median_of(row.samples, &Reading::clock_mhz);
  }
}

}  // namespace amasia
