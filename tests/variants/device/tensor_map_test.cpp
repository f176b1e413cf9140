// Boxes that no tensor map can be made for are refused before the driver is asked, with the limit.
#include "variants/device/tensor_map.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/messages.hpp"

namespace amasia {
namespace {

/// A grid of 100 x 100 at an address that nobody reads.
template <class T>
Grid<const T> grid(std::int64_t pitch = 128) {
  return {reinterpret_cast<const T*>(std::uintptr_t{4096}), 100, 100, pitch};
}

template <class T>
std::string refusal(const Grid<const T>& of, int box_rows, int box_columns,
                    Swizzle swizzle = Swizzle::none) {
  return message_of<std::runtime_error>(
      [&] { (void)tensor_map(of, box_rows, box_columns, swizzle); });
}

TEST(TensorMap, RefusesABoxWithTheLimitThatItBreaks) {
  EXPECT_EQ(refusal(grid<float>(), 257, 32),
            "no tensor map: a box has 1 to 256 rows and columns, not 257 x 32");
  EXPECT_EQ(refusal(grid<int>(), 8, 3),
            "no tensor map: a row of a box is a multiple of 16 bytes, not 12");
  EXPECT_EQ(refusal(grid<float>(), 8, 64, Swizzle::bytes128),
            "no tensor map: a row of a box swizzled by 128 bytes has no more, not 256");
}

TEST(TensorMap, KnowsTheBytesOfItsElements) {
  EXPECT_EQ(refusal(grid<__nv_bfloat16>(), 8, 4),
            "no tensor map: a row of a box is a multiple of 16 bytes, not 8");
  EXPECT_EQ(refusal(grid<__nv_bfloat16>(100), 8, 8),
            "no tensor map: the bytes of a pitch are a multiple of 16 below 2^40, not 100 x 2");
}

}  // namespace
}  // namespace amasia
