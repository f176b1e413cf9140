// Counter-based random numbers: element i of stream s depends on (seed, s, i) alone, so the device
// generates gigabytes in parallel and the CPU reference regenerates any element without a copy.
#pragma once

#include <cstdint>

#include "variants/host_device.hpp"

namespace amasia {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection on 64 bits that passes
/// BigCrush when fed a counter times the golden-ratio increment.
AMASIA_HD constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

AMASIA_HD constexpr std::uint32_t random_bits(std::uint64_t seed, std::uint64_t stream,
                                              std::uint64_t i) {
  const std::uint64_t key = mix64(seed + 0x9e3779b97f4a7c15ULL * (stream + 1));
  return static_cast<std::uint32_t>(mix64(key + 0x9e3779b97f4a7c15ULL * (i + 1)) >> 32);
}

/// Uniform integer in [0, bound), bias below bound / 2^32.
AMASIA_HD constexpr std::uint32_t random_below(std::uint64_t seed, std::uint64_t stream,
                                               std::uint64_t i, std::uint32_t bound) {
  return static_cast<std::uint32_t>((std::uint64_t{random_bits(seed, stream, i)} * bound) >> 32);
}

/// Uniform float in [0, 1), 24 random bits.
AMASIA_HD constexpr float random_unit(std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
  return static_cast<float>(random_bits(seed, stream, i) >> 8) * (1.0f / 16777216.0f);
}

}  // namespace amasia
