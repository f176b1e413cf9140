// Bytes in flight count the blocks that are launched, not those that would fit. Without a device;
// how grids are read off a launch: tests/gpu/launch_test.cu.
#include "harness/gpu/launched_blocks.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

constexpr int sms = 132;

TEST(BytesInFlight, AreThoseOfTheBlocksThatRunAtOnce) {
  const struct {
    std::size_t per_block;
    std::int64_t resident;
    std::optional<std::int64_t> launched;
    std::size_t bytes;
  } cases[] = {
      {8192, 3 * sms, 3 * sms, 3 * 8192},
      {8192, 3 * sms, 1'000'000, 3 * 8192},
      {16384, 3 * sms, 128, 16384 * 128 / 132},  // nw at 16384 rows: 396 blocks would fit
      {16384, 3 * sms, 1, 124},
      {16384, 3 * sms, 0, 0},  // this run does not launch it
      {1000, 2 * sms, 200, 1515},
      {8192, 3 * sms, std::nullopt, 3 * 8192},
      {132'000, 128, 1024, 128'000},  // clusters of 16 blocks leave SMs empty
      {8192, 0, 5, 0},
      {227 * 1024, 32 * sms, INT64_MAX, 32 * 227 * 1024},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(bytes_in_flight_per_sm(c.per_block, c.resident, c.launched, sms), c.bytes);
  }
  EXPECT_EQ(bytes_in_flight_per_sm(8192, 5, 5, 0), 0u);
}

TEST(LaunchedBlocks, TellAKernelThatIsNotLaunchedFromARunThatIsNotKnown) {
  const LaunchedBlocks run{{"walk", 128}};
  EXPECT_EQ(blocks_of(run, "walk"), 128);
  EXPECT_EQ(blocks_of(run, "other"), 0);
  EXPECT_EQ(blocks_of({}, "walk"), std::nullopt);
}

}  // namespace
}  // namespace amasia
