// Prose and lists for a terminal: lines of at most so many columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace amasia {

/// What the program's own pages are held to: help, list, --dry-run.
inline constexpr std::size_t page_columns = 100;

/// Columns that `text` takes: characters, not bytes (UTF-8, none of them wide).
std::size_t columns_of(std::string_view text);

/// `first` and then the words of `text`, broken between words so that no line exceeds `columns`;
/// the lines after the first begin with `indent` blanks. A word that is longer than a line stands
/// alone on one, broken where the line ends. Ends with a line break.
std::string wrapped(std::string_view first, std::string_view text, std::size_t indent,
                    std::size_t columns = page_columns);

}  // namespace amasia
