// Numbers that people, tools and files wrote.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace amasia {

/// The number that all of `text` is, in any locale; nothing for one too large for its type.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace amasia
