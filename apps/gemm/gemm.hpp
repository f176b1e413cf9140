// gemm: C = alpha A B; A is m x k, B is k x n (the CUDA sample's matrixMul, any shape).
//
//   for i < m:  for j < n:  C(i,j) = alpha * sum over p < k of A(i,p) B(p,j)
//
// Mode fp32 multiplies and adds in fp32. The tensor-core modes round the inputs, tf32 to 11 bits of
// significand in fp32 storage, bf16 to 8 bits in 16-bit storage, e4m3 to 4 bits in 8-bit storage;
// their sums are fp32, too. Mode tf32x3 has fp32's inputs and fp32's accuracy on tensor cores: an
// element is the sum of two tf32 values, hi and lo (tf32.hpp), and a product the sum of three,
// lo hi + hi lo + hi hi.
//
// A and C lie row by row. B does in layout nn; in layout tn it is stored transposed, so that the
// terms of a sum are neighbours in both operands. The names are those that BLAS, which thinks in
// columns, has for the two.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/common/tf32.hpp"
#include "harness/app.hpp"
#include "inputs/random.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::gemm {

enum class Mode { fp32, tf32, bf16, e4m3, tf32x3 };
constexpr const char* mode_names[] = {"fp32", "tf32", "bf16", "e4m3", "tf32x3"};
constexpr const char* name_of(Mode mode) { return mode_names[static_cast<int>(mode)]; }
constexpr int element_bytes(Mode mode) {
  return mode == Mode::e4m3 ? 1 : mode == Mode::bf16 ? 2 : 4;
}

/// From a row of an operand to the next, in bytes.
constexpr std::int64_t pitch_bytes(Mode mode, std::int64_t columns) {
  return padded_pitch<unsigned char>(columns * element_bytes(mode));
}

enum class Layout { nn, tn };
constexpr const char* layout_names[] = {"nn", "tn"};
constexpr const char* name_of(Layout layout) { return layout_names[static_cast<int>(layout)]; }

/// An input as bytes, so that one mover serves every element type. `pitch` and `columns` are bytes.
using Operand = Grid<const unsigned char>;

class Pieces;  // launches.hpp

/// What a variant works on. Device pointers. `b` has k rows in layout nn, n rows in layout tn. The
/// padding behind the rows of A and B (padded_pitch) is zero and may be read, so that a slice that
/// reaches past k adds nothing; that behind the rows of C may be overwritten.
struct Problem {
  Mode mode = Mode::fp32;
  Layout layout = Layout::nn;
  std::int64_t m = 0, n = 0, k = 0;
  Operand a, b;
  Grid<float> c;
  float alpha = 1;           // known at run time only, as in BLAS
  Pieces* pieces = nullptr;  // the host's
};

/// An operand as the elements it consists of, or as pieces of several, of which the last may reach
/// into the padding.
template <class T>
Grid<const T> elements(const Operand& x) {
  constexpr std::int64_t size = sizeof(T);
  return {reinterpret_cast<const T*>(x.data), x.rows, (x.columns + size - 1) / size,
          x.pitch / size};
}

const std::vector<ParameterSpec>& parameter_specs();
Mode mode_of(const Parameters& p);
/// Throws UsageError for a layout that the mode does not have.
Layout layout_of(const Parameters& p);

using matrix::bits_of;
using matrix::from_bits;
using matrix::round_to_tf32;

/// Nearest bf16, ties to even. For finite x.
AMASIA_HD inline std::uint16_t round_to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
AMASIA_HD inline float from_bf16(std::uint16_t x) { return from_bits(std::uint32_t{x} << 16); }

/// Nearest e4m3 (sign, 4 bits of exponent with bias 7, 3 of significand; no infinity), ties to
/// even, at most 448 (Open Compute Project, "8-bit Floating Point Specification"). For finite x.
AMASIA_HD inline std::uint8_t round_to_e4m3(float x) {
  constexpr std::uint32_t largest = 0x43e00000, least_normal = 0x3c800000;  // 448 and 2^-6
  const std::uint32_t sign = bits_of(x) >> 24 & 0x80, size = bits_of(x) & 0x7fffffff;
  if (size >= largest) return static_cast<std::uint8_t>(sign | 0x7e);
  if (size >= least_normal) {
    const std::uint32_t rounded = size + 0x7ffff + (size >> 20 & 1);
    return static_cast<std::uint8_t>(sign | ((rounded >> 20) - ((127 - 7) << 3)));
  }
  // Multiples of 2^-9, which is one in the last place of 2^14.
  return static_cast<std::uint8_t>(sign | (bits_of(from_bits(size) + 0x1p14f) - bits_of(0x1p14f)));
}
/// Not for the two codes of NaN, 0x7f and 0xff.
AMASIA_HD inline float from_e4m3(std::uint8_t code) {
  const std::uint32_t sign = std::uint32_t{code} >> 7 << 31, size = code & 0x7fu;
  if (size >= 8) return from_bits(sign | ((size << 20) + ((127u - 7) << 23)));
  return from_bits(sign | bits_of(static_cast<float>(size) * 0x1p-9f));
}

/// Element (i, j) of A (which = 0) or B (1), in [-1, 1], as the mode rounds it; the same in every
/// layout. Both signs, so that a wrong term is not hidden in a sum that only grows.
AMASIA_HD inline float input_element(std::uint64_t seed, int which, Mode mode, std::int64_t columns,
                                     std::int64_t i, std::int64_t j) {
  const float unit = random_unit(seed, static_cast<std::uint64_t>(which),
                                 static_cast<std::uint64_t>(i * columns + j));
  const float x = 2 * unit - 1;
  if (mode == Mode::tf32) return round_to_tf32(x);
  if (mode == Mode::e4m3) return from_e4m3(round_to_e4m3(x));
  return mode == Mode::bf16 ? from_bf16(round_to_bf16(x)) : x;
}

}  // namespace amasia::gemm
