// Bytes in flight count the blocks that are launched, not those that would fit. Without a device;
// how grids are read off a launch: tests/gpu/nw_launched_blocks_test.cu.
#include "harness/gpu/launched_blocks.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

constexpr int sms = 132;

TEST(BytesInFlight, OfAGridThatFillsTheDevice) {
  EXPECT_EQ(bytes_in_flight_per_sm(8192, 3 * sms, 3 * sms, sms), 3 * 8192u);
  EXPECT_EQ(bytes_in_flight_per_sm(8192, 3 * sms, 1'000'000, sms), 3 * 8192u);
}

TEST(BytesInFlight, OfFewerBlocksThanSMs) {
  // nw at 16384 rows: 128 blocks, where 396 would fit.
  EXPECT_EQ(bytes_in_flight_per_sm(16384, 3 * sms, 128, sms), 16384u * 128 / 132);
  EXPECT_EQ(bytes_in_flight_per_sm(16384, 3 * sms, 1, sms), 124u);
  EXPECT_EQ(bytes_in_flight_per_sm(16384, 3 * sms, 0, sms), 0u);  // this run does not launch it
}

TEST(BytesInFlight, OfAPartOfAWave) {
  EXPECT_EQ(bytes_in_flight_per_sm(1000, 2 * sms, 200, sms), 1515u);
}

TEST(BytesInFlight, WithoutAKnownLaunchAreThoseOfAllThatFit) {
  EXPECT_EQ(bytes_in_flight_per_sm(8192, 3 * sms, std::nullopt, sms), 3 * 8192u);
}

TEST(BytesInFlight, OfClustersThatLeaveSMsEmpty) {
  // Eight clusters of 16 blocks are resident on 132 SMs: less than a block each.
  EXPECT_EQ(bytes_in_flight_per_sm(132'000, 128, 1024, sms), 128'000u);
}

TEST(BytesInFlight, NothingFits) {
  EXPECT_EQ(bytes_in_flight_per_sm(8192, 0, 5, sms), 0u);
  EXPECT_EQ(bytes_in_flight_per_sm(8192, 5, 5, 0), 0u);
}

TEST(BytesInFlight, DoNotOverflow) {
  EXPECT_EQ(bytes_in_flight_per_sm(227 * 1024, 32 * sms, INT64_MAX, sms), 32 * 227 * 1024u);
}

TEST(LaunchedBlocks, TellAKernelThatIsNotLaunchedFromARunThatIsNotKnown) {
  const LaunchedBlocks run{{"walk", 128}};
  EXPECT_EQ(blocks_of(run, "walk"), 128);
  EXPECT_EQ(blocks_of(run, "other"), 0);
  EXPECT_EQ(blocks_of({}, "walk"), std::nullopt);
}

}  // namespace
}  // namespace amasia
