// Names given by a person: glob patterns, and the nearest valid names when one is mistyped. Lists.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
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

}  // namespace amasia
