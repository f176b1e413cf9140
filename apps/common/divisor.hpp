// Division by what is known before a launch: one multiplication and a shift, where a division of
// integers takes some twenty instructions that wait for each other.
#pragma once

#include <cstdint>

#include "variants/host_device.hpp"

namespace amasia::matrix {

/// A divisor of numbers from 0 to 2^31 - 1, by the reciprocal rounded up (Granlund and Montgomery,
/// Division by Invariant Integers using Multiplication, PLDI 1994, figure 4.1). From 1 to 2^30.
struct Divisor {
  int value = 1;
  unsigned reciprocal = 1;  // 2^32 (2^shift - value) / value, and one more
  int shift = 0;            // 2^shift >= value

  Divisor() = default;
  AMASIA_HD constexpr explicit Divisor(int d) : value(d) {
    while (1 << shift < d) ++shift;
    const auto above = static_cast<std::uint64_t>((1 << shift) - d);
    reciprocal = static_cast<unsigned>((above << 32) / static_cast<std::uint64_t>(d) + 1);
  }
  AMASIA_HD int quotient(int x) const {
#ifdef __CUDA_ARCH__
    const unsigned high = __umulhi(static_cast<unsigned>(x), reciprocal);  // no pair of registers
#else
    const auto n = static_cast<std::uint64_t>(static_cast<unsigned>(x));
    const auto high = static_cast<unsigned>(n * reciprocal >> 32);
#endif
    return static_cast<int>((high + static_cast<unsigned>(x)) >> shift);
  }
};

}  // namespace amasia::matrix
