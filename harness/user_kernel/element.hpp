// The types that elements of a buffer and scalar arguments may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/words.hpp"

namespace amasia {

enum class ElementType { f16, bf16, f32, f64, i8, u8, i16, u16, i32, u32, i64, u64 };
template <>
struct Words<ElementType> {
  static constexpr std::string_view what = "type",
                                    list[] = {"f16", "bf16", "f32", "f64", "i8",  "u8",
                                              "i16", "u16",  "i32", "u32", "i64", "u64"};
};

std::size_t bytes_of(ElementType type);
bool is_float(ElementType type);

/// Element i as a number. 64-bit integers beyond 2^53 lose their last digits.
double element_at(ElementType type, const std::byte* data, std::size_t i);
/// The nearest value of the type, ties to even; an integer type is cut to its range and rounded
/// towards zero.
void set_element(ElementType type, std::byte* data, std::size_t i, double value);
/// An integer without a detour through floating point, where the type is one.
void set_element(ElementType type, std::byte* data, std::size_t i, std::int64_t value);
/// Whether the type holds this integer exactly.
bool holds(ElementType type, std::int64_t value);
/// Whether the type has this value within its range: of an integer type exactly, and below 2^53 in
/// magnitude, of a floating-point type rounded, but neither to infinity nor to zero.
bool reaches(ElementType type, double value);

}  // namespace amasia
