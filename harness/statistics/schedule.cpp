#include "harness/statistics/schedule.hpp"

#include <algorithm>
#include <stdexcept>

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
  if (mirrored) std::reverse(order.begin(), order.end());
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

}  // namespace amasia
