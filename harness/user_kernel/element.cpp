#include "harness/user_kernel/element.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include "harness/user_kernel/drawn.hpp"

namespace amasia {
namespace {

template <class T>
T element_as(const std::byte* data, std::size_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof value);
  return value;
}

template <class T>
void put_element(std::byte* data, std::size_t i, T value) {
  std::memcpy(data + i * sizeof(T), &value, sizeof value);
}

/// IEEE 754 binary16: 5 bits of exponent with bias 15, 10 of fraction.
double double_of_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double value = 0;
  if (exponent == 31) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

std::uint16_t half_of_double(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);  // rounds to infinity
  // Subnormals have the spacing of the least exponent; rounding up into the next exponent is the
  // next bit pattern.
  const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  const auto scaled = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  const std::uint32_t bits =
      size < 0x1p-14 ? scaled : (static_cast<std::uint32_t>(exponent + 14) << 10) + scaled;
  return static_cast<std::uint16_t>(sign | bits);
}

double double_of_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t bfloat_of_double(double value) {
  if (std::isnan(value)) return 0x7fc0;
  const auto single = static_cast<float>(value);
  std::uint32_t bits = std::bit_cast<std::uint32_t>(single);
  // To nearest even in the upper half. What was a tie only because float had rounded before is put
  // right by the bit that was lost.
  if (static_cast<double>(single) != value && std::isfinite(single) && (bits & 0xffff) == 0x8000) {
    bits = std::abs(static_cast<double>(single)) > std::abs(value) ? bits - 1 : bits + 1;
  }
  bits += 0x7fff + (bits >> 16 & 1);
  return static_cast<std::uint16_t>(bits >> 16);
}

template <class T>
T cut(double value) {
  if (std::isnan(value)) return 0;
  constexpr auto least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max();
  if (value <= static_cast<double>(least)) return least;
  if (value >= static_cast<double>(most)) return most;
  return static_cast<T>(value);
}

/// In the order of ElementType; of f16 and bf16 their bits.
using ElementTypes =
    std::tuple<std::uint16_t, std::uint16_t, float, double, std::int8_t, std::uint8_t, std::int16_t,
               std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
static_assert(std::tuple_size_v<ElementTypes> == std::size(Words<ElementType>::list));

/// Calls `act` with a value of the type.
template <class Act>
void with_type(ElementType type, Act act) {
  std::size_t place = 0;
  const auto act_in_place = [&](auto zero) {
    if (place++ == static_cast<std::size_t>(type)) act(zero);
  };
  std::apply([&](auto... zeros) { (act_in_place(zeros), ...); }, ElementTypes());
}

}  // namespace

std::size_t bytes_of(ElementType type) {
  std::size_t bytes = 0;
  with_type(type, [&](auto zero) { bytes = sizeof zero; });
  return bytes;
}

bool is_float(ElementType type) {
  return type == ElementType::f16 || type == ElementType::bf16 || type == ElementType::f32 ||
         type == ElementType::f64;
}

double element_at(ElementType type, const std::byte* data, std::size_t i) {
  if (type == ElementType::f16) return double_of_half(element_as<std::uint16_t>(data, i));
  if (type == ElementType::bf16) return double_of_bfloat(element_as<std::uint16_t>(data, i));
  double value = 0;
  with_type(type,
            [&](auto zero) { value = static_cast<double>(element_as<decltype(zero)>(data, i)); });
  return value;
}

void set_element(ElementType type, std::byte* data, std::size_t i, double value) {
  if (type == ElementType::f16) return put_element(data, i, half_of_double(value));
  if (type == ElementType::bf16) return put_element(data, i, bfloat_of_double(value));
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      put_element(data, i, static_cast<T>(value));
    } else {
      put_element(data, i, cut<T>(value));
    }
  });
}

void set_element(ElementType type, std::byte* data, std::size_t i, std::int64_t value) {
  if (is_float(type)) return set_element(type, data, i, static_cast<double>(value));
  with_type(type, [&](auto zero) { put_element(data, i, static_cast<decltype(zero)>(value)); });
}

bool holds(ElementType type, std::int64_t value) {
  std::byte held[8] = {};
  if (is_float(type)) {
    set_element(type, held, 0, value);
    const double back = element_at(type, held, 0);
    // 2^63 and beyond would not come back as an integer.
    return std::abs(back) < 0x1p63 && static_cast<std::int64_t>(back) == value;
  }
  bool exact = false;
  with_type(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) exact = std::in_range<T>(value);
  });
  return exact;
}

bool reaches(ElementType type, double value) {
  if (!is_float(type)) {
    return std::abs(value) < 0x1p53 && value == std::floor(value) &&
           holds(type, static_cast<std::int64_t>(value));
  }
  std::byte held[8] = {};
  set_element(type, held, 0, value);
  const double back = element_at(type, held, 0);
  return std::isfinite(back) && (back != 0 || value == 0);
}

void draw_on_host(std::byte* to, const Draws& d) {
  for (std::size_t i = 0; i < d.count; ++i) {
    if (is_float(d.type)) {
      set_element(d.type, to, i, drawn_real(d, i));
    } else {
      set_element(d.type, to, i, drawn_integer(d, i));
    }
  }
}

void alter_on_host(std::byte* data, const Alteration& a) {
  for (std::size_t piece = 0; piece < a.pieces(); ++piece) alter_piece(data, a, piece);
}

}  // namespace amasia
