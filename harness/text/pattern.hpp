// What people, tools and files wrote: glob patterns, the nearest valid names when one is mistyped,
// lists, numbers.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace amasia {

/// The parts between separators, without empty ones.
std::vector<std::string> split(std::string_view text, char separator);

/// Whether `text` as a whole matches `pattern`, as fnmatch(3): '*' is any run of characters, '/'
/// among them.
bool glob_match(std::string_view pattern, std::string_view text);

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// What an error message about an unknown name should end with: "did you mean a or b?" when
/// something is near, otherwise "valid: a, b, c" (at most 12 names).
std::string suggestion(std::string_view name, const std::vector<std::string>& valid);

/// What a map has under a key; without such a key nothing: "", 0.
template <class Map>
typename Map::mapped_type value_in(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? typename Map::mapped_type{} : found->second;
}

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
