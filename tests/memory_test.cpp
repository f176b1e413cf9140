// The arithmetic of microbench/memory: hot regions and windows, walks.
#include <gtest/gtest.h>

#include "microbench/memory/persistence.hpp"

namespace amasia::memory {
namespace {

constexpr std::size_t mib = 1 << 20;

TEST(Region, IsTheShareOfTheSetAsideInWholeChunks) {
  EXPECT_EQ(region_bytes(30 * mib, 100), 30 * mib);
  EXPECT_EQ(region_bytes(30 * mib, 50), 15 * mib);
  EXPECT_EQ(region_bytes(30 * mib, 200), 60 * mib);
  EXPECT_EQ(region_bytes(30 * mib + 5000, 100), 30 * mib);
  for (const std::size_t set_aside : {std::size_t{1}, 3 * mib, 37 * mib + 12345, 96 * mib}) {
    std::size_t before = 0;
    for (const int percent : {12, 25, 50, 75, 100, 125, 150, 200}) {
      const std::size_t bytes = region_bytes(set_aside, percent);
      EXPECT_EQ(bytes % persistence_chunk, 0u);
      EXPECT_GE(bytes, persistence_chunk);
      EXPECT_GE(bytes, before);
      before = bytes;
      if (set_aside >= mib) {
        EXPECT_LE(bytes, set_aside * static_cast<unsigned>(percent) / 100);
        EXPECT_GT(bytes + persistence_chunk, set_aside * static_cast<unsigned>(percent) / 100);
      }
    }
  }
}

TEST(Region, BeyondTheSetAsideKeepsTheShareThatFits) {
  EXPECT_FLOAT_EQ(fitted_ratio(30 * mib, 15 * mib), 1.0F);
  EXPECT_FLOAT_EQ(fitted_ratio(30 * mib, 30 * mib), 1.0F);
  EXPECT_FLOAT_EQ(fitted_ratio(30 * mib, 60 * mib), 0.5F);
  EXPECT_FLOAT_EQ(fitted_ratio(30 * mib, 40 * mib), 0.75F);
}

TEST(StreamBetween, IsFarBeyondTheL2OrNothing) {
  EXPECT_EQ(stream_bytes(60 * mib, std::size_t{140} << 30), 480 * mib);
  EXPECT_EQ(stream_bytes(72 * mib, std::size_t{4} << 30), 512 * mib);  // an eighth of the memory
  EXPECT_EQ(stream_bytes(72 * mib, std::size_t{2} << 30), 0u);
}

TEST(Walks, MeetNoNodeTwiceAndAreOfWholeIterations) {
  constexpr std::uint64_t unroll = 32;
  for (std::uint64_t nodes = 512; nodes < (1 << 20); nodes += 509) {
    const Lengths l = lengths_of(nodes, unroll);
    EXPECT_LE(l.warm + l.few + l.many, nodes);
    EXPECT_GT(l.few, 0u);
    EXPECT_GT(l.many, 4 * l.few);
    for (const std::uint64_t links : {l.warm, l.few, l.many}) EXPECT_EQ(links % unroll, 0u);
  }
  EXPECT_EQ(lengths_of(1 << 20, unroll).many, 4096u);
}

TEST(Kept, IsNoneAsDisplacedAndAllAsUndisturbed) {
  EXPECT_DOUBLE_EQ(kept_share(660, 660, 280), 0);
  EXPECT_DOUBLE_EQ(kept_share(660, 280, 280), 1);
  EXPECT_DOUBLE_EQ(kept_share(660, 470, 280), 0.5);
}

}  // namespace
}  // namespace amasia::memory
