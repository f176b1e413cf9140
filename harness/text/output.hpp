// What the program prints. Prose, for the person who waits, goes to stderr and is dropped where it
// cannot be written: a full disk behind 2>, a closed terminal or a reader that went away must not
// end a campaign. Data goes to stdout and must arrive.
#pragma once

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace amasia {

/// stdout cannot take the data. what() is one line; the program ends with exit_output.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Once, first thing in the program. A closed stream is given a descriptor that refuses (stdout) or
/// swallows (stderr): a file opened later would take its number and receive what was meant for it.
/// A reader that goes away ends no campaign: it is an error of write(2) then, no signal.
void secure_standard_streams();

/// Once, before the first reference. Freed memory is kept for the next array. By default glibc maps
/// each large array anew, and the kernel then clears every page of it: half the time of srad's
/// reference.
void keep_freed_memory();

/// The text with '?' for every control character, an end of line among them, and cut after 2000
/// bytes: names in it may come from a file or from the command line, and could otherwise print what
/// they like.
std::string in_one_line(std::string_view text);
/// what(), but of an array that no memory can hold, of which the library says its own name.
std::string reason_of(const std::exception& error);

/// The text in this colour where stderr is a terminal and NO_COLOR does not forbid it: what says
/// the same without.
enum class Colour { red = 31, green = 32, yellow = 33, cyan = 36 };
std::string in_colour(Colour colour, const std::string& text);

/// What begins with a word such as FAILED or "next:" is coloured by it. Never throws.
void write_prose(std::string_view text) noexcept;
/// print_prose("{} of {}\n", i, n)
template <class... Arguments>
void print_prose(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_prose(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// All of `text` has left this process when it returns, unless the reader went away, as head does.
/// Throws OutputError.
void write_data(std::string_view text);
template <class... Arguments>
void print_data(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_data(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// What the program's own pages are held to: help, list, --dry-run.
inline constexpr std::size_t page_columns = 100;

/// Columns that `text` takes: characters, not bytes (UTF-8, none of them wide).
std::size_t columns_of(std::string_view text);

/// `first` and then the words of `text`, broken between words so that no line exceeds `columns`;
/// the lines after the first begin with `indent` blanks. A word that is longer than a line stands
/// alone on one, broken where the line ends. Ends with a line break.
std::string wrapped(std::string_view first, std::string_view text, std::size_t indent,
                    std::size_t columns = page_columns);

// Commands that the program suggests, quoted so that they can be pasted into a shell.

/// {"amasia", "merge", "my run.json"} -> "amasia merge 'my run.json'". A word with a control
/// character, which a line cannot show, becomes $'...' with escapes.
std::string in_shell(const std::vector<std::string>& words);

}  // namespace amasia
