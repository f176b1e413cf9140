// Order of the runs in a comparison group: rounds of every entry once, so that drift in clock or
// temperature meets all alike.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "harness/statistics/statistics.hpp"
#include "harness/words.hpp"

namespace amasia {

/// Order of the entries in round `round`: Williams' design (E. J. Williams 1949), a Latin square in
/// which over a full cycle every entry takes every position, and follows every other entry, equally
/// often. The cycle is `entries` rounds, twice as many when odd.
std::vector<int> round_order(int entries, int round);
int rounds_per_cycle(int entries);

/// The rows of a round in their order: each of `rows` once, and in one of `rounds_for_repeats`
/// rounds each of `repeated` a second time. These take turns; each cycle of the order begins with
/// another, so that none keeps its places.
inline constexpr int rounds_for_repeats = 4;
std::vector<int> rows_of_round(const std::vector<int>& rows, const std::vector<int>& repeated,
                               int round);

// When a measurement has enough samples: one rule for the rounds of a group and for the samples of
// a point.

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
