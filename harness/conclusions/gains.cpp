#include "harness/conclusions/gains.hpp"

namespace amasia {
namespace {

const Comparison* find_matched(const GroupResult& group, const std::string& variant,
                               const std::string& schedule, const std::string& against_schedule) {
  for (const Comparison& c : group.comparisons) {
    if (c.role == Role::matched && c.variant == variant && c.schedule == schedule &&
        c.against_schedule == against_schedule) {
      return &c;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<Gain> gains_of(const GroupResult& group) {
  std::vector<Gain> gains;
  for (const Comparison& total : group.comparisons) {
    if (total.role != Role::best || total.control || total.variant == total.against) continue;
    if (total.schedule.empty() || total.against_schedule.empty()) continue;
    Gain gain;
    gain.variant = total.variant;
    gain.schedule = total.schedule;
    gain.baseline_schedule = total.against_schedule;
    gain.total = &total;
    if (gain.schedule == gain.baseline_schedule) {
      gain.by_movement = &total;
    } else {
      gain.by_schedule = find_matched(group, total.against, gain.schedule, gain.baseline_schedule);
      gain.by_movement = find_matched(group, gain.variant, gain.schedule, gain.schedule);
      gain.at_baseline_schedule =
          find_matched(group, gain.variant, gain.baseline_schedule, gain.baseline_schedule);
    }
    if (gain.by_movement != nullptr) gains.push_back(gain);
  }
  return gains;
}

}  // namespace amasia
