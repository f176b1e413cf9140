// Orders in which a pointer chase visits its nodes: one cycle through all of them, so that a walk
// of any length meets no node twice before it has met every other.
#pragma once

#include <cstdint>

#include "variants/host_device.hpp"

namespace amasia {

/// Such an order, for any element on its own, so that a GPU can lay out gigabytes in parallel. It
/// is a keyed bijection p of 0..count-1: four Feistel rounds over the next even power of two,
/// repeated until the result is below `count`. The cycle is p(0) -> p(1) -> ... -> p(count-1) ->
/// p(0): next[p(i)] = p(i + 1).
AMASIA_HD inline std::uint64_t scatter(std::uint64_t i, std::uint64_t count, std::uint64_t key) {
  int half = 1;  // bits of each half
  while ((std::uint64_t{1} << (2 * half)) < count) ++half;
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = i >> half, right = i & mask;
    for (int round = 0; round < 4; ++round) {
      // The finaliser of SplitMix64 (Steele, Lea, Flood 2014) as the round function.
      std::uint64_t x = right + key + 0x9e3779b97f4a7c15ULL * static_cast<std::uint64_t>(round + 1);
      x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
      x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
      x ^= x >> 31;
      const std::uint64_t swapped = left ^ (x & mask);
      left = right;
      right = swapped;
    }
    i = (left << half) | right;
  } while (i >= count);
  return i;
}

}  // namespace amasia
