// What memory/compression writes: words of 4 bytes that a cache line can or cannot be made smaller
// by, from one formula, so that the kernels are the same for all of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "variants/host_device.hpp"

namespace amasia::memory {

/// A word is (noise & mask) ^ fixed.
struct Pattern {
  std::uint32_t mask;
  std::uint32_t fixed;
};

struct NamedPattern {
  const char* name;
  Pattern pattern;
  bool extreme;  // nothing, or nothing to take away: the quick form
};
constexpr NamedPattern patterns[] = {
    {"zeros", {0, 0}, true},
    {"constant", {0, 0x3F9D70A4}, false},  // 1.23 as a float: no byte repeats another
    {"narrow", {0xFF, 0}, false},          // integers below 256: three bytes of four are zero
    {"random", {0xFFFFFFFF, 0}, true},
};

/// Noise shared by the four words of 16 bytes number `i`.
AMASIA_HD constexpr std::uint32_t noise(std::uint32_t i) {
  std::uint32_t x = i * 0x9E3779B1U;
  x = (x ^ (x >> 15)) * 0x7FEB352DU;
  x = (x ^ (x >> 12)) * 0x846CA68BU;
  return x ^ (x >> 16);
}

/// Word `w` (0 to 3) of the 16 bytes with that noise. Odd factors: each word takes every value.
AMASIA_HD constexpr std::uint32_t word_of(const Pattern& p, std::uint32_t noise, unsigned w) {
  const std::uint32_t factor = w == 0   ? 1U
                               : w == 1 ? 0x85EBCA6BU
                               : w == 2 ? 0xC2B2AE35U
                                        : 0x27D4EB2FU;
  const std::uint32_t x = noise * factor;
  return ((x ^ (x >> 16)) & p.mask) ^ p.fixed;
}

/// Bytes of one array that lies far beyond the L2: 512 MiB, a 64th of the memory where that is
/// less; 0 where it would not be four times the L2. `unit`: what it is a multiple of.
constexpr std::size_t bytes_beyond(std::size_t l2, std::size_t memory, std::size_t unit) {
  const std::size_t most = std::min(std::size_t{512} << 20, memory / 64) / unit * unit;
  return most < 4 * l2 ? 0 : most;
}

/// Bytes of one array of which two stay in the L2, whatever its halves keep twice.
constexpr std::size_t bytes_inside(std::size_t l2, std::size_t unit) {
  return std::max(unit, l2 / 8 / unit * unit);
}

}  // namespace amasia::memory
