// Sizes that overflow, and orders that look random.
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "inputs/errors.hpp"
#include "inputs/permutation.hpp"
#include "inputs/sizes.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

TEST(CheckedProduct, FitsOrRefuses) {
  EXPECT_EQ(checked_product({3, 5, 7}, "cells"), 105);
  EXPECT_EQ(checked_product({}, "cells"), 1);
  EXPECT_EQ(checked_product({INT64_MAX, 1}, "cells"), INT64_MAX);
  EXPECT_EQ(checked_product({INT64_MAX, INT64_MAX, 0}, "cells"), 0);
  EXPECT_EQ(checked_product({std::int64_t{1} << 31, (std::int64_t{1} << 31) + 1}, "cells"),
            (std::int64_t{1} << 62) + (std::int64_t{1} << 31));
  EXPECT_TRUE(
      contains(message_of<UsageError>([] {
                 checked_product({std::int64_t{1} << 32, std::int64_t{1} << 31}, "grid bytes");
               }),
               "grid bytes: 4294967296 x 2147483648 does not fit in 63 bits"));
  EXPECT_THROW(checked_product({-1, 0}, "cells"), UsageError);
}

TEST(RandomCycle, IsOneCycleOfEverySize) {
  for (const std::uint32_t count : {1u, 2u, 3u, 17u, 1024u, 100003u}) {
    EXPECT_TRUE(is_full_cycle(random_cycle(count, 7))) << count;
  }
  EXPECT_THROW(random_cycle(0, 1), std::invalid_argument);
}

TEST(RandomCycle, TheCheckCanFail) {
  EXPECT_FALSE(is_full_cycle({}));
  EXPECT_FALSE(is_full_cycle({0, 1}));     // two cycles of one
  EXPECT_FALSE(is_full_cycle({1, 0, 2}));  // one is left out
  EXPECT_FALSE(is_full_cycle({1, 2, 1}));  // never returns
  EXPECT_FALSE(is_full_cycle({1, 7, 0}));  // out of range
  EXPECT_TRUE(is_full_cycle({2, 0, 1}));
}

std::vector<std::uint32_t> scattered_cycle(std::uint32_t count, std::uint64_t key) {
  std::vector<std::uint32_t> next(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    next[scatter(i, count, key)] =
        static_cast<std::uint32_t>(scatter(i + 1 == count ? 0 : i + 1, count, key));
  }
  return next;
}

TEST(Scatter, GivesOneCycleOfEverySize) {
  for (const std::uint32_t count : {1u, 2u, 3u, 31u, 64u, 1000u, 1024u, 65537u}) {
    EXPECT_TRUE(is_full_cycle(scattered_cycle(count, 11))) << count;
  }
  EXPECT_NE(scattered_cycle(1000, 1), scattered_cycle(1000, 2));
}

TEST(Scatter, LeavesNoSequenceForAPrefetcher) {
  constexpr std::uint32_t count = 1 << 16;
  std::uint32_t neighbours = 0;
  double distance = 0;
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    const auto a = static_cast<double>(scatter(i, count, 3));
    const auto b = static_cast<double>(scatter(i + 1, count, 3));
    neighbours += std::abs(a - b) <= 4;
    distance += std::abs(a - b) / count;
  }
  EXPECT_LT(neighbours, 40u);                          // 8 of each 65,536 by chance
  EXPECT_NEAR(distance / (count - 1), 1.0 / 3, 0.01);  // as of two independent uniform numbers
}

}  // namespace
}  // namespace amasia
