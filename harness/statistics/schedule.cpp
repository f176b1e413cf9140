#include "harness/statistics/schedule.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace amasia {

int rounds_per_cycle(int entries) {
  if (entries < 0) throw std::invalid_argument("a schedule needs 0 or more entries");
  return entries % 2 == 0 ? entries : 2 * entries;
}

std::vector<int> round_order(int entries, int round) {
  if (entries < 0 || round < 0) throw std::invalid_argument("entries and round must be 0 or more");
  std::vector<int> order(static_cast<std::size_t>(entries));
  if (entries == 0) return order;
  const int shift = round % entries;
  for (int position = 0; position < entries; ++position) {
    // Zigzag 0, 1, n-1, 2, n-2, ...: its neighbouring differences are all different modulo n, so
    // the n shifted copies together contain every ordered pair once (n even) or every difference
    // twice, with the mirrored copies (n odd).
    const int zigzag = position % 2 == 1 ? (position + 1) / 2 : (entries - position / 2) % entries;
    order[static_cast<std::size_t>(position)] = (zigzag + shift) % entries;
  }
  const bool mirrored = entries % 2 == 1 && round / entries % 2 == 1;
  if (mirrored) std::ranges::reverse(order);
  return order;
}

std::vector<int> rows_of_round(const std::vector<int>& rows, const std::vector<int>& repeated,
                               int round) {
  const int singles = static_cast<int>(rows.size());
  const int slots =
      (static_cast<int>(repeated.size()) + rounds_for_repeats - 1) / rounds_for_repeats;
  std::vector<int> order = round_order(singles + slots, round);
  for (int& entry : order) {
    if (entry < singles) {
      entry = rows[static_cast<std::size_t>(entry)];
    } else {
      const auto turn = std::size_t(round) * std::size_t(slots) + std::size_t(entry - singles) +
                        std::size_t(round / rounds_per_cycle(singles + slots));
      entry = repeated[turn % repeated.size()];
    }
  }
  return order;
}

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
  return std::ranges::all_of(ratios, [&](const RatioInterval& ratio) {
    return ratio.coverage >= each && half_width(ratio) <= precision;
  });
}

}  // namespace amasia
