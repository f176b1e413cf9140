// When a measurement has enough samples: one rule for the rounds of a group and for the samples of
// a point.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "harness/statistics/statistics.hpp"
#include "harness/words.hpp"

namespace amasia {

/// Rounds that a group takes if it can: enough for the sign test after correction for 14
/// comparisons, and to see a dependence that fewer hide.
inline constexpr int least_rounds = 15;

struct StoppingRule {
  int min_count = 1;  // an interval that is narrow after fewer samples is not believed
  int max_count = 1;
  StopReason at_max_count = StopReason::round_limit;  // or sample_limit: what is counted
  double seconds = 0;                                 // wall clock, from the first sample on
  int min_count_in_time = 1;  // so many are taken even when the time is over
  /// Up to so many times the seconds, if `min_count` is reached by then, or at least `least_count`:
  /// fewer resolve nothing.
  double patience = 1;
  int least_count = 1;
  double precision = 0.005;  // half width of an interval as a share of its middle
  double confidence = 0.95;  // joint, over all intervals that are judged together

  /// Asked after every sample, with the samples so far: nothing means one more. `precise` is called
  /// only when there are enough samples for its answer to count.
  std::optional<StopReason> reason(int count, double elapsed_seconds,
                                   const std::function<bool()>& precise) const;

  /// Whether the median of these values is known precisely enough. False for none.
  bool precise(std::vector<double> values) const;
  bool precise(const MedianInterval& interval) const;
  /// Whether all of these ratios are, each at the confidence that makes them hold jointly.
  bool precise(const std::vector<RatioInterval>& ratios) const;
};

}  // namespace amasia
