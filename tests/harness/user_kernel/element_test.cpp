#include "harness/user_kernel/element.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace amasia {
namespace {

/// What is left of a value in that type.
double through(ElementType type, double value) {
  std::byte held[8] = {};
  set_element(type, held, 0, value);
  return element_at(type, held, 0);
}

std::uint16_t bits_of(ElementType type, double value) {
  std::byte held[8] = {};
  set_element(type, held, 0, value);
  std::uint16_t bits = 0;
  std::memcpy(&bits, held, sizeof bits);
  return bits;
}

TEST(Element, HalfPrecisionIsIeee754) {
  EXPECT_EQ(bits_of(ElementType::f16, 1), 0x3c00);
  EXPECT_EQ(bits_of(ElementType::f16, -2), 0xc000);
  EXPECT_EQ(bits_of(ElementType::f16, 65504), 0x7bff);
  EXPECT_EQ(bits_of(ElementType::f16, 65519), 0x7bff);
  EXPECT_EQ(bits_of(ElementType::f16, 65520), 0x7c00) << "a tie goes to even, which is infinity";
  EXPECT_EQ(bits_of(ElementType::f16, std::ldexp(1, -24)), 0x0001) << "the least subnormal";
  EXPECT_EQ(bits_of(ElementType::f16, std::ldexp(1, -14)), 0x0400) << "the least normal";
  EXPECT_EQ(bits_of(ElementType::f16, std::ldexp(1023.75, -24)), 0x0400) << "rounds up into it";
  EXPECT_EQ(bits_of(ElementType::f16, 2049), 0x6800) << "a tie to even: 2048";
  EXPECT_EQ(bits_of(ElementType::f16, 2051), 0x6802) << "a tie to even: 2052";
  EXPECT_EQ(bits_of(ElementType::f16, 2047.5), 0x6800) << "rounds up into the next exponent";
  EXPECT_TRUE(std::isnan(through(ElementType::f16, std::nan(""))));
  // Every pattern that is a number comes back as itself.
  for (int pattern = 0; pattern < 0x10000; ++pattern) {
    const auto bits = static_cast<std::uint16_t>(pattern);
    std::byte held[2];
    std::memcpy(held, &bits, sizeof bits);
    const double value = element_at(ElementType::f16, held, 0);
    if (!std::isnan(value)) {
      ASSERT_EQ(bits_of(ElementType::f16, value), bits);
    }
  }
}

TEST(Element, BfloatRoundsOnce) {
  EXPECT_EQ(bits_of(ElementType::bf16, 1), 0x3f80);
  EXPECT_EQ(bits_of(ElementType::bf16, 1 + std::ldexp(1, -8)), 0x3f80) << "a tie to even";
  EXPECT_EQ(bits_of(ElementType::bf16, 1 + 3 * std::ldexp(1, -8)), 0x3f82) << "a tie to even";
  // Just above the tie, by less than a float can tell: not to be rounded twice.
  EXPECT_EQ(bits_of(ElementType::bf16, 1 + std::ldexp(1, -8) + std::ldexp(1, -40)), 0x3f81);
  EXPECT_EQ(bits_of(ElementType::bf16, 1 + 3 * std::ldexp(1, -8) - std::ldexp(1, -40)), 0x3f81);
  EXPECT_TRUE(std::isnan(through(ElementType::bf16, std::nan(""))));
  EXPECT_EQ(through(ElementType::bf16, 1e39), std::numeric_limits<double>::infinity());
}

TEST(Element, IntegersAreCutToTheirRange) {
  EXPECT_EQ(through(ElementType::i8, 1000), 127);
  EXPECT_EQ(through(ElementType::i8, -1000), -128);
  EXPECT_EQ(through(ElementType::u16, -1), 0);
  EXPECT_EQ(through(ElementType::i32, -7.9), -7);
  EXPECT_EQ(through(ElementType::u8, std::nan("")), 0);
  EXPECT_TRUE(holds(ElementType::u8, 255));
  EXPECT_FALSE(holds(ElementType::u8, 256));
  EXPECT_FALSE(holds(ElementType::u64, -1));
  EXPECT_TRUE(holds(ElementType::i64, INT64_MIN));
  EXPECT_TRUE(holds(ElementType::f32, 1 << 24));
  EXPECT_FALSE(holds(ElementType::f32, (1 << 24) + 1));
  EXPECT_FALSE(holds(ElementType::f64, INT64_MAX));
}

TEST(Element, EveryTypeKeepsWhatItCanHold) {
  for (const ElementType type : all_values<ElementType>()) {
    std::byte held[16] = {};
    set_element(type, held, 1, std::int64_t{100});
    EXPECT_EQ(element_at(type, held, 1), 100) << word_of(type);
    EXPECT_EQ(element_at(type, held, 0), 0) << word_of(type);
    EXPECT_LE(bytes_of(type), 8u);
  }
}

}  // namespace
}  // namespace amasia
