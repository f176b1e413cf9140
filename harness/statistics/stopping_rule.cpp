#include "harness/statistics/stopping_rule.hpp"

#include <algorithm>
#include <utility>

namespace amasia {

std::optional<StopReason> StoppingRule::reason(int count, double elapsed_seconds,
                                               const std::function<bool()>& precise) const {
  if (count >= min_count && precise()) return StopReason::narrow_enough;
  if (count >= max_count) return at_max_count;
  if (count < min_count_in_time || elapsed_seconds < seconds) return std::nullopt;
  const auto is_worth_waiting_for = [&](int least) {
    return count < least && elapsed_seconds * least / std::max(count, 1) <= patience * seconds;
  };
  if (is_worth_waiting_for(min_count) || is_worth_waiting_for(least_count)) return std::nullopt;
  return StopReason::time_limit;
}

bool StoppingRule::precise(std::vector<double> values) const {
  if (values.empty()) return false;
  return precise(median_interval(std::move(values), confidence));
}

bool StoppingRule::precise(const MedianInterval& interval) const {
  return interval.coverage >= confidence && half_width(interval) <= precision;
}

bool StoppingRule::precise(const std::vector<RatioInterval>& ratios) const {
  const double each = corrected_confidence(confidence, static_cast<int>(ratios.size()));
  return std::all_of(ratios.begin(), ratios.end(), [&](const RatioInterval& ratio) {
    return ratio.coverage >= each && half_width(ratio) <= precision;
  });
}

}  // namespace amasia
