#include "harness/results/positions.hpp"

#include <algorithm>
#include <map>

#include "harness/statistics/schedule.hpp"

namespace amasia {
namespace {

/// Where the rows of a group are in each round.
class Places {
 public:
  explicit Places(const GroupResult& group) {
    bool any_repeat = false;
    for (std::size_t r = 0; r < group.rows.size(); ++r) {
      const Row& row = group.rows[r];
      if (row.samples.empty()) continue;
      rows_.push_back(static_cast<int>(r));
      if (runs_twice(row)) repeated_.push_back(static_cast<int>(r));
      any_repeat = any_repeat || !row.repeat_samples.empty();
    }
    if (!any_repeat) repeated_.clear();
  }

  /// The `nth` place of the row in the round; -1 where it has none.
  int place(int row, int round, int nth) {
    if (round < 0) return -1;
    const auto [found, is_new] = orders_.try_emplace(round);
    if (is_new) found->second = rows_of_round(rows_, repeated_, round);
    const std::vector<int>& order = found->second;
    auto at = std::find(order.begin(), order.end(), row);
    for (; nth > 0 && at != order.end(); --nth) at = std::find(at + 1, order.end(), row);
    return at == order.end() ? -1 : static_cast<int>(at - order.begin());
  }

 private:
  std::vector<int> rows_, repeated_;
  std::map<int, std::vector<int>> orders_;
};

}  // namespace

bool runs_twice(const Row& row) {
  const bool baseline = row.variant.ends_with("/baseline") && row.role != Role::matched;
  return !baseline && row.role != Role::candidate;
}

void set_positions(GroupResult& group) {
  Places places(group);
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    const auto set = [&](std::vector<Sample>& samples, int nth) {
      if (!samples.empty() && samples.front().position >= 0) return;
      for (Sample& sample : samples) {
        sample.position = places.place(static_cast<int>(r), sample.round, nth);
      }
    };
    set(group.rows[r].samples, 0);
    set(group.rows[r].repeat_samples, 1);
  }
}

}  // namespace amasia
