// The ring of stages, against one that is filled and emptied step by step.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "variants/geometry/ring.hpp"

namespace amasia {
namespace {

template <int STAGES>
void expect_ring() {
  // What an mbarrier does: a use of its stage completes a phase, and turns the parity that the next
  // one waits for.
  std::array<unsigned, STAGES> parity{};
  int stage = 0;
  for (long long tile = 0; tile < 5 * STAGES + 3; ++tile) {
    const RingSlot<STAGES> slot = ring_slot<STAGES>(tile);
    ASSERT_EQ(slot.stage, stage) << tile;
    ASSERT_EQ(slot.parity, parity[stage]) << tile;
    parity[stage] ^= 1;
    stage = stage + 1 == STAGES ? 0 : stage + 1;
  }
}

TEST(Ring, GoesRoundAndTurnsItsParity) {
  expect_ring<1>();
  expect_ring<2>();
  expect_ring<3>();
  expect_ring<4>();
  expect_ring<7>();
}

TEST(Ring, CountsTilesIn64Bits) {
  constexpr long long far = (1LL << 40) + 1;
  EXPECT_EQ(ring_slot<4>(far).stage, 1);
  EXPECT_EQ(ring_slot<4>(far).parity, 0u);
  EXPECT_EQ(ring_slot<4>(far + 4).parity, 1u);
}

TEST(Rounding, UpToTheNextMultiple) {
  for (long long a = 0; a < 100; ++a) {
    for (long long b = 1; b < 20; ++b) {
      const long long rounded = round_up(a, b);
      EXPECT_EQ(rounded % b, 0);
      EXPECT_GE(rounded, a);
      EXPECT_LT(rounded - b, a);
      EXPECT_EQ(ceil_div(a, b) * b, rounded);
    }
  }
  EXPECT_EQ(ceil_div(std::numeric_limits<std::int32_t>::max(), 1), 2147483647);
  EXPECT_EQ(ceil_div(1LL << 40, 3), 366503875926);
}

}  // namespace
}  // namespace amasia
