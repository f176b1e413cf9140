// The limits of boxes that the copy engine moves, and its swizzle.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/messages.hpp"
#include "variants/geometry/box.hpp"

namespace amasia {
namespace {

constexpr BoxOfGrid good{256, 1000, 1000, 1024, 4, 64, 32, Swizzle::bytes128};

/// What is said of `good` after `change`; "" when it serves.
template <class Change>
std::string said_after(const Change& change) {
  BoxOfGrid box = good;
  change(box);
  return objection_to(box).value_or("");
}

TEST(BoxOfGrid, ServesWithinTheLimits) {
  EXPECT_EQ(objection_to(good), std::nullopt);
  EXPECT_EQ(said_after([](BoxOfGrid& b) { b.address = 16; }), "");
  EXPECT_EQ(said_after([](BoxOfGrid& b) { b.rows = b.columns = 1; }), "");
  EXPECT_EQ(said_after([](BoxOfGrid& b) { b.rows = std::int64_t{1} << 32; }), "");
  EXPECT_EQ(said_after([](BoxOfGrid& b) { b.pitch = (std::int64_t{1} << 38) - 4; }), "");
  EXPECT_EQ(said_after([](BoxOfGrid& b) { b.box_rows = 256; }), "");
  EXPECT_EQ(said_after([](BoxOfGrid& b) {
              b.swizzle = Swizzle::none;
              b.box_columns = 256;
            }),
            "");
  EXPECT_EQ(said_after([](BoxOfGrid& b) {
              b.element_bytes = 2;
              b.box_columns = 64;
            }),
            "");
  for (const Swizzle swizzle : {Swizzle::bytes32, Swizzle::bytes64, Swizzle::bytes128}) {
    EXPECT_EQ(said_after([&](BoxOfGrid& b) {
                b.swizzle = swizzle;
                b.box_columns = 8;
              }),
              "");
  }
}

TEST(BoxOfGrid, NamesTheLimitThatItBreaks) {
  const auto expect = [](const char* part, auto change) {
    const std::string said = said_after(change);
    EXPECT_TRUE(contains(said, part));
    EXPECT_TRUE(is_one_line(said));
  };
  expect("multiple of 16 bytes", [](BoxOfGrid& b) { b.address = 8; });
  expect("not 0 x 1000", [](BoxOfGrid& b) { b.rows = 0; });
  expect("1 to 2^32", [](BoxOfGrid& b) { b.columns = (std::int64_t{1} << 32) + 1; });
  expect("not 1001 x 4", [](BoxOfGrid& b) { b.pitch = 1001; });
  expect("below 2^40", [](BoxOfGrid& b) { b.pitch = std::int64_t{1} << 38; });
  expect("below 2^40", [](BoxOfGrid& b) { b.pitch = std::int64_t{1} << 62; });
  expect("not 257 x 32", [](BoxOfGrid& b) { b.box_rows = 257; });
  expect("not 64 x 0", [](BoxOfGrid& b) { b.box_columns = 0; });
  expect("not 12", [](BoxOfGrid& b) { b.box_columns = 3; });
  expect("swizzled by 128 bytes has no more, not 144", [](BoxOfGrid& b) { b.box_columns = 36; });
  expect("swizzled by 64 bytes has no more, not 128",
         [](BoxOfGrid& b) { b.swizzle = Swizzle::bytes64; });
  expect("swizzled by 32 bytes", [](BoxOfGrid& b) { b.swizzle = Swizzle::bytes32; });
}

TEST(SwizzledChunk, PutsOneColumnOfEightRowsIntoAllBanks) {
  for (int chunk = 0; chunk < 8; ++chunk) {
    std::set<int> places;
    for (int row = 8; row < 16; ++row) places.insert(swizzled_chunk(row, chunk));
    EXPECT_EQ(places.size(), 8u);
    EXPECT_EQ(*places.begin(), 0);
    EXPECT_EQ(*places.rbegin(), 7);
  }
}

TEST(SwizzledChunk, IsItsOwnInverseAndLeavesTheFirstRowAlone) {
  for (int row = 0; row < 32; ++row) {
    for (int chunk = 0; chunk < 8; ++chunk) {
      EXPECT_EQ(swizzled_chunk(row, swizzled_chunk(row, chunk)), chunk);
      EXPECT_EQ(swizzled_chunk(row + 8, chunk), swizzled_chunk(row, chunk));
      if (row % 8 == 0) {
        EXPECT_EQ(swizzled_chunk(row, chunk), chunk);
      }
    }
  }
}

}  // namespace
}  // namespace amasia
