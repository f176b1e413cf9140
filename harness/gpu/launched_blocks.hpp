// How many blocks a run launches, and what an SM has in flight with so many. A persistent kernel
// with fewer blocks than SMs leaves SMs empty, whatever the occupancy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "variants/host_device.hpp"

namespace amasia {

/// The blocks of the largest launch of each kernel of a run, by mangled name. Empty where that is
/// not known.
using LaunchedBlocks = std::map<std::string, std::int64_t>;

/// Of a run, which is captured on the stream and not performed. Kernels of libraries are left out.
/// Empty when the run cannot be captured.
LaunchedBlocks launched_blocks(const Launch& launch, Stream stream);

/// Of one kernel: 0 when the run does not launch it at all, nothing when that is not known.
inline std::optional<std::int64_t> blocks_of(const LaunchedBlocks& launched,
                                             const std::string& kernel) {
  if (launched.empty()) return std::nullopt;
  const auto found = launched.find(kernel);
  return found == launched.end() ? 0 : found->second;
}

/// Bytes in flight, the mean over the SMs, rounded down: of the launched blocks, at most of those
/// `resident` at once.
constexpr std::size_t bytes_in_flight_per_sm(std::size_t per_block, std::int64_t resident,
                                             std::optional<std::int64_t> launched, int sm_count) {
  const std::int64_t at_once = std::min(resident, launched.value_or(resident));
  if (at_once <= 0 || sm_count <= 0) return 0;
  return per_block * static_cast<std::size_t>(at_once) / static_cast<std::size_t>(sm_count);
}

}  // namespace amasia
