#include "harness/plan/expectation.hpp"

namespace amasia {

std::int64_t device_bytes(const PlannedGroup& group) {
  return find_app(group.key.app)->device_bytes(group.key.size);
}

std::size_t expected_points(const PlannedMicrobenchmark& plan, const Device& device) {
  return planned_points(plan, device).size();
}

double expected_seconds(const Campaign& campaign, const std::optional<Device>& device) {
  double seconds = campaign.ceilings ? expected_ceiling_seconds : 0;
  for (const PlannedGroup& g : campaign.groups) {
    if (device && device_bytes(g) > static_cast<std::int64_t>(device->free_bytes)) continue;
    seconds += expected_seconds(g);
  }
  if (!device) return seconds;
  for (const PlannedMicrobenchmark& m : campaign.microbenchmarks) {
    seconds += expected_seconds(m, expected_points(m, *device));
  }
  return seconds;
}

}  // namespace amasia
