// Bookkeeping of a ring of stages: which stage a tile uses and which parity its barrier has.
// Plain arithmetic, the same on host and device, so the CPU tests cover it.
#pragma once

#include "variants/host_device.hpp"

namespace amasia {

/// Position of tile `n` in a ring of STAGES stages. A stage's mbarrier completes one phase per
/// tile, so the parity to wait for is the number of earlier uses of that stage, modulo 2.
template <int STAGES>
struct RingSlot {
  int stage;
  unsigned parity;
};

template <int STAGES>
AMASIA_HD constexpr RingSlot<STAGES> ring_slot(long long n) {
  static_assert(STAGES >= 1);
  return {static_cast<int>(n % STAGES), static_cast<unsigned>((n / STAGES) & 1)};
}

AMASIA_HD constexpr long long ceil_div(long long a, long long b) { return (a + b - 1) / b; }
AMASIA_HD constexpr long long round_up(long long a, long long b) { return ceil_div(a, b) * b; }

}  // namespace amasia
