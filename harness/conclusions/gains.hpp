// What a strategy gains at its best, divided into what its schedule gains and what its way of
// moving data gains.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

/// Of one strategy in one group. Each ratio was measured in pairs in the same rounds, so `total` is
/// `by_schedule` times `by_movement` but for noise.
struct Gain {
  std::string variant;
  std::string schedule;           // that the strategy is best with
  std::string baseline_schedule;  // that the baseline is best with
  /// best / best.
  const Comparison* total = nullptr;
  /// The baseline with the strategy's schedule against the baseline at its best; nullptr where both
  /// are best with the same schedule: then the gain is 1, and all of the total is movement.
  const Comparison* by_schedule = nullptr;
  /// Both with the strategy's schedule.
  const Comparison* by_movement = nullptr;
  /// Both with the baseline's schedule; nullptr where the strategy cannot run it, or runs it best.
  const Comparison* at_baseline_schedule = nullptr;
};

/// Of every strategy whose movement gain was measured, in the order of the rows. The pointers point
/// into `group`.
std::vector<Gain> gains_of(const GroupResult& group);

}  // namespace amasia
