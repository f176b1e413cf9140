// tf32, what tensor cores round fp32 to: 11 bits of significand with fp32's exponent. And fp32 as
// two of them (mode tf32x3 of gemm, the tf32x3 schedules of lud).
#pragma once

#include <cstdint>
#include <cstring>

#include "variants/host_device.hpp"

namespace amasia::matrix {

AMASIA_HD inline std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
AMASIA_HD inline float from_bits(std::uint32_t bits) {
  float x = 0;
  memcpy(&x, &bits, sizeof x);
  return x;
}
AMASIA_HD inline bool is_finite(float x) { return (bits_of(x) & 0x7f800000u) != 0x7f800000u; }

/// Nearest tf32 value, ties away from zero (as cvt.rna.tf32.f32). For finite x.
AMASIA_HD inline float round_to_tf32(float x) {
  return from_bits((bits_of(x) + 0x1000u) & ~0x1fffu);
}

/// x as a sum of two tf32 values.
struct Parts {
  float hi, lo;
};

/// hi + lo differs from x by 2^-23 |x| at most, where |x| is at least 2^-113; below 2^-126 tf32 has
/// multiples of 2^-136 alone. hi is rounded, not cut off, so lo has either sign. The product of two
/// lo is left out: 2^-22 of the whole at most, which then adds up at random. hi is cut off where
/// rounding would make it infinite. Of an infinity or a NaN, lo is NaN.
AMASIA_HD inline Parts split(float x) {
  if (!is_finite(x)) return {x, from_bits(0x7fc00000u)};
  float hi = round_to_tf32(x);
  if (!is_finite(hi)) hi = from_bits(bits_of(x) & ~0x1fffu);
  return {hi, round_to_tf32(x - hi)};
}

/// Terms that the tensor cores sum up before the sum is added to one that fp32 instructions round.
/// Tensor cores cut off each time, towards zero, so that the error grows as the number of terms
/// between, where that of rounding grows as its root. Replayed on the CPU
/// (tests/apps/gemm_test.cpp), root mean square in units of 2^-24: 3.1 at 32 terms and 5.9 at 8192,
/// where fp32 has 1.7 and 25. With 64 terms between it is 14, with 128 it is 33, at any k; without
/// a limit 2500 at 8192.
inline constexpr int terms_of_tensor_sum = 32;

/// An operand of three products is stored in groups of eight rows: their hi, then their lo. wgmma
/// takes rows by eight, with any stride from one group to the next. So a tile of any height has
/// both parts.
inline constexpr int rows_of_group = 8;
AMASIA_HD constexpr std::int64_t row_of_hi(std::int64_t row) {
  return row / rows_of_group * (2 * rows_of_group) + row % rows_of_group;
}
AMASIA_HD constexpr std::int64_t row_of_lo(std::int64_t row) {
  return row_of_hi(row) + rows_of_group;
}
/// Rows of the two parts of `rows`.
AMASIA_HD constexpr std::int64_t rows_of_parts(std::int64_t rows) {
  return (rows + rows_of_group - 1) / rows_of_group * (2 * rows_of_group);
}

}  // namespace amasia::matrix
