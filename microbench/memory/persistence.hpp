// The arithmetic of memory/persistence: how large a hot region is, which share of it a window may
// keep, how far a chase walks through it. Without a device, for the tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace amasia::memory {

/// What a block reads at a time; regions and streams are multiples of it.
constexpr std::size_t persistence_chunk = 64 << 10;

/// `percent` of the set-aside in whole chunks, one at least.
constexpr std::size_t region_bytes(std::size_t set_aside, int percent) {
  const std::size_t share = set_aside * static_cast<unsigned>(percent) / 100;
  return std::max(persistence_chunk, share / persistence_chunk * persistence_chunk);
}

/// The share of a region's lines that fits the set-aside: the hit ratio of a fitted window.
constexpr float fitted_ratio(std::size_t set_aside, std::size_t region) {
  return region <= set_aside ? 1.0F : static_cast<float>(set_aside) / static_cast<float>(region);
}

/// Bytes that pass through the L2 between two visits of the hot region: eight times what it holds,
/// less where an eighth of the memory is less; 0 where that would not be four times.
constexpr std::size_t stream_bytes(std::size_t l2, std::size_t memory) {
  const std::size_t most = std::min(8 * l2, memory / 8) / persistence_chunk * persistence_chunk;
  return most < 4 * l2 ? 0 : most;
}

/// Links of the three walks of one launch. Together they meet no node twice: what the walk itself
/// brings into the L2 is not found again.
struct Lengths {
  std::uint64_t warm, few, many;
};
constexpr Lengths lengths_of(std::uint64_t nodes, std::uint64_t multiple) {
  const std::uint64_t many = std::min<std::uint64_t>(4096, nodes / 2) / multiple * multiple;
  const std::uint64_t few = many / 8 / multiple * multiple;
  return {few, few, many};
}

/// The share of the loads that the window saved from device memory, by the mean latency: between
/// that of a region which streaming has displaced (0) and of one that nothing displaced (1).
constexpr double kept_share(double displaced, double kept, double undisturbed) {
  return (displaced - kept) / (displaced - undisturbed);
}

}  // namespace amasia::memory
