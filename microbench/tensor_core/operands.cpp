#include "microbench/tensor_core/operands.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

namespace amasia::tensor {
namespace {

std::uint32_t encoded(Element e, float v) {
  switch (e) {
    case Element::f16:
      return __half_raw(__float2half(v)).x;
    case Element::bf16:
      return __nv_bfloat16_raw(__float2bfloat16(v)).x;
    case Element::tf32:
      return std::bit_cast<std::uint32_t>(v) & ~0x1FFFU;
    case Element::e4m3:
      return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E4M3);
    default:
      return __nv_cvt_float_to_fp8(v, __NV_SATFINITE, __NV_E5M2);
  }
}

float from_half(std::uint32_t bits) {
  __half_raw raw;
  raw.x = static_cast<unsigned short>(bits);
  return __half2float(__half(raw));
}

double decoded(Element e, std::uint32_t bits) {
  switch (e) {
    case Element::f16:
      return from_half(bits);
    case Element::bf16:
      return std::bit_cast<float>(bits << 16);
    case Element::tf32:
      return std::bit_cast<float>(bits);
    case Element::e4m3:
    case Element::e5m2:
      return from_half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(bits),
                                               e == Element::e4m3 ? __NV_E4M3 : __NV_E5M2)
                           .x);
    case Element::s8:
      return static_cast<std::int8_t>(bits);
    case Element::s4:
      return static_cast<int>(bits ^ 8) - 8;
    case Element::b1:
      return bits;
  }
  return 0;
}

}  // namespace

std::string name_of(Element e) {
  constexpr const char* names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "s4", "b1"};
  return names[static_cast<int>(e)];
}

std::string name_of(Sum s) {
  constexpr const char* names[] = {"f16", "f32", "s32"};
  return names[static_cast<int>(s)];
}

std::string rate_unit(Element e) { return is_integer(e) ? "TOP/s" : "TFLOP/s"; }

double Matrix::at(int row, int column) const {
  const int bits = bits_of(element);
  const int per_word = 32 / bits;
  const std::uint32_t mask = bits == 32 ? ~0U : (1U << bits) - 1;
  return decoded(element, word(row, column / per_word) >> (column % per_word * bits) & mask);
}

Matrix matrix_of(Element element, int rows, int columns, Fill fill, unsigned seed) {
  Matrix m{element, rows, columns, {}};
  m.words.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(m.row_words()));
  if (fill == Fill::zero) return m;
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  const int bits = bits_of(element);
  for (std::uint32_t& word : m.words) {
    if (is_integer(element)) {
      word = static_cast<std::uint32_t>(random());
    } else {
      for (int at = 0; at < 32; at += bits) word |= encoded(element, value(random)) << at;
    }
  }
  return m;
}

Matrix negated(Matrix m) {
  if (is_integer(m.element)) return m;
  const int bits = bits_of(m.element);
  for (std::uint32_t& word : m.words) {
    for (int at = bits - 1; at < 32; at += bits) word ^= 1U << at;
  }
  return m;
}

std::uint32_t random_metadata(Element element, unsigned seed) {
  std::mt19937 random(seed);
  constexpr std::uint32_t pairs[] = {0x4, 0x8, 0x9, 0xC, 0xD, 0xE};  // (0,1) (0,2) (1,2) (0,3) ...
  constexpr std::uint32_t ones[] = {0x4, 0xE};                       // first or second of two
  std::uint32_t metadata = 0;
  for (int at = 0; at < 32; at += 4) {
    metadata |= (element == Element::tf32 ? ones[random() % 2] : pairs[random() % 6]) << at;
  }
  return metadata;
}

Expected product(const Matrix& a, int m, const Matrix& b, int n, const Kept* kept) {
  Expected e;
  for (int j = 0; j < a.columns; ++j) {
    int k = j;
    if (kept != nullptr) {
      k = a.element == Element::tf32 ? 2 * j + kept->first / 2 : j / 2 * 4 + j % 2 + kept->first;
    }
    const double term = a.at(m, j) * b.at(n, k);
    e.value += term;
    e.magnitude += std::fabs(term);
  }
  return e;
}

double sum_at(Sum type, const std::uint32_t* words, std::size_t index) {
  switch (type) {
    case Sum::f16:
      return from_half(words[index / 2] >> (index % 2 * 16) & 0xFFFF);
    case Sum::f32:
      return std::bit_cast<float>(words[index]);
    case Sum::s32:
      return static_cast<std::int32_t>(words[index]);
  }
  return 0;
}

void hold_to(double got, const Expected& expected, Element element, Sum type, int m, int n) {
  // The tensor cores of sm_90 keep 13 bits of a sum of fp8 products (measured by many).
  double share = std::ldexp(1.0, -18);
  if (is_fp8(element)) share = std::ldexp(1.0, -11);
  if (type == Sum::f16) share = std::ldexp(1.0, -8);
  if (is_integer(element)) share = 0;
  if (std::fabs(got - expected.value) <= share * expected.magnitude) return;
  throw std::runtime_error(fmt::format("the product is wrong: element ({}, {}) is {}, not {}", m, n,
                                       got, expected.value));
}

}  // namespace amasia::tensor
