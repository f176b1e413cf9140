// What a plan costs before it runs: time, roughly, and device memory.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "harness/device.hpp"
#include "harness/plan/campaign.hpp"

namespace amasia {

/// Roughly what measuring the ceilings takes, for what is said before anything was measured.
inline constexpr double expected_ceiling_seconds = 10;

/// Device memory of one instance at the group's size, all variants' scratch included.
std::int64_t device_bytes(const PlannedGroup& group);

/// How many points of the microbenchmark this device is asked for.
std::size_t expected_points(const PlannedMicrobenchmark& plan, const Device& device);

/// All of the campaign on this device, groups that do not fit left out. Without a device the time
/// of the groups and ceilings; the points of microbenchmarks are not known then.
double expected_seconds(const Campaign& campaign, const std::optional<Device>& device);

}  // namespace amasia
