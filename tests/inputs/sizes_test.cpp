#include "inputs/sizes.hpp"

#include <gtest/gtest.h>

#include "inputs/errors.hpp"
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

}  // namespace
}  // namespace amasia
