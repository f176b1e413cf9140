// gemm: C = alpha A B, all row-major; A is m x k, B is k x n (the CUDA sample's matrixMul, any
// shape).
//
//   for i < m:  for j < n:  C(i,j) = alpha * sum over p < k of A(i,p) B(p,j)
//
// Mode fp32 multiplies and adds in fp32. The tensor-core modes round the inputs, tf32 to 11 bits of
// significand in fp32 storage, bf16 to 8 bits in 16-bit storage; their sums are fp32, too.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "harness/app.hpp"
#include "inputs/random.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::gemm {

enum class Mode { fp32, tf32, bf16 };
constexpr const char* mode_names[] = {"fp32", "tf32", "bf16"};
constexpr int element_bytes(Mode mode) { return mode == Mode::bf16 ? 2 : 4; }

/// An input as bytes, so that one mover serves every element type. `pitch` and `columns` are bytes.
using Operand = Grid<const unsigned char>;

/// What a variant works on. Device pointers. The padding behind the rows of A and B (padded_pitch)
/// is zero and may be read, so that a slice of A that reaches past k adds nothing; that behind the
/// rows of C may be overwritten.
struct Problem {
  Mode mode = Mode::fp32;
  std::int64_t m = 0, n = 0, k = 0;
  Operand a, b;
  Grid<float> c;
  float alpha = 1;  // known at run time only, as in BLAS
};

/// An operand as the elements it consists of.
template <class T>
Grid<const T> elements(const Operand& x) {
  constexpr std::int64_t size = sizeof(T);
  return {reinterpret_cast<const T*>(x.data), x.rows, x.columns / size, x.pitch / size};
}

const std::vector<ParameterSpec>& parameter_specs();
Mode mode_of(const Parameters& p);

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

/// Nearest tf32 value, ties away from zero (as cvt.rna.tf32.f32). For finite x.
AMASIA_HD inline float round_to_tf32(float x) {
  return from_bits((bits_of(x) + 0x1000u) & ~0x1fffu);
}
/// Nearest bf16, ties to even. For finite x.
AMASIA_HD inline std::uint16_t round_to_bf16(float x) {
  const std::uint32_t bits = bits_of(x);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1)) >> 16);
}
AMASIA_HD inline float from_bf16(std::uint16_t x) { return from_bits(std::uint32_t{x} << 16); }

/// Element (i, j) of A (which = 0) or B (1), in [-1, 1), as the mode rounds it. Both signs, so that
/// a wrong term is not hidden in a sum that only grows.
AMASIA_HD inline float input_element(std::uint64_t seed, int which, Mode mode, std::int64_t columns,
                                     std::int64_t i, std::int64_t j) {
  const float unit = random_unit(seed, static_cast<std::uint64_t>(which),
                                 static_cast<std::uint64_t>(i * columns + j));
  const float x = 2 * unit - 1;
  if (mode == Mode::tf32) return round_to_tf32(x);
  return mode == Mode::bf16 ? from_bf16(round_to_bf16(x)) : x;
}

}  // namespace amasia::gemm
