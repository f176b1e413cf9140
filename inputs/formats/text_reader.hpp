// What every text format here is read with: bytes, lines and words of a file, each of bounded
// length, and errors that name the file and the line.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

namespace amasia::formats {

/// `text` without the spaces, tabs and carriage returns at both ends: lines may end in CRLF.
std::string_view trimmed(std::string_view text);

/// At most the first 40 bytes of `text` in quotes, as a message may show them: '?' stands for each
/// that a terminal could not print.
std::string in_quotes(std::string_view text);

/// What from_chars takes no '+' for: other writers of a format may produce one.
enum class LeadingPlus { refused, accepted };

/// A number, and why there is none: std::errc{} where there is one, result_out_of_range,
/// invalid_argument.
template <class T>
struct Number {
  T value{};
  std::errc error{};
};

/// The number that `text`, all of it, stands for. A float may be an infinity or NaN.
template <class T>
Number<T> parse_number(std::string_view text, LeadingPlus plus = LeadingPlus::accepted) {
  static_assert(std::is_arithmetic_v<T>);
  if (plus == LeadingPlus::accepted && text.size() > 1 && text[0] == '+' && text[1] != '-') {
    text.remove_prefix(1);
  }
  Number<T> number;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number.value);
  number.error = error == std::errc{} && stopped != end ? std::errc::invalid_argument : error;
  return number;
}

/// Reads a file once, from its beginning to its end. Memory is bounded whatever the file holds: a
/// buffer, and a line or word of at most `longest` bytes. Everything throws UsageError, one line,
/// "path: reading failed" where the device or file system gives up.
class TextReader {
 public:
  /// A number has at most a few dozen characters. A line or word beyond this holds none, and might
  /// have gigabytes.
  static constexpr std::size_t longest = 256;

  /// `content` is what the file should hold, "numbers", for the error that finds a directory there.
  /// Throws UsageError for one, and for a file that cannot be opened.
  TextReader(std::string path, std::string_view content);

  /// The next byte, whatever it is; nothing at the end of the file.
  std::optional<unsigned char> byte() {
    if (at_ == size_ && !refill()) return std::nullopt;
    const auto next = static_cast<unsigned char>(buffer_[at_++]);
    if (next == '\n') ++line_;
    return next;
  }

  struct Line {
    std::int64_t number = 0;  // from 1
    std::string_view text;    // without its end; valid until the next call
  };
  /// The next line, the last one with or without its end; nothing behind it. `expected`, "one
  /// number", is for the error of a line that is too long.
  std::optional<Line> line(std::string_view expected);

  /// The next run of bytes between spaces, tabs and ends of lines; nothing at the end of the file.
  /// Valid until the next call. `expected` as in line().
  std::optional<std::string_view> word(std::string_view expected);

  /// The line that the next byte lies in, from 1.
  std::int64_t line_number() const { return line_; }

  /// Throws UsageError "path:line: expected ...", by default with line_number().
  [[noreturn]] void fail(const std::string& expected) const { fail(line_, expected); }
  [[noreturn]] void fail(std::int64_t line, const std::string& expected) const;
  /// Throws UsageError "path: expected ...", for what is wrong with the file as a whole.
  [[noreturn]] void fail_file(const std::string& expected) const;

 private:
  bool refill();
  void append(unsigned char next, std::string_view expected, std::string_view unit);

  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, size_ = 0;
  std::string text_;  // the line or word that was handed out
  std::int64_t line_ = 1;
};

/// A file of `count` values, one per line, and nothing else but blank lines at the end.
struct Column {
  std::int64_t count = 0;
  std::string size;      // "3 keys": how the count is put in an error
  std::string one;       // "one integer": what a line has to hold
  std::string some_one;  // "an integer"
};

/// Reads such a file: parse(text, line) gives the value of one line, whose blanks are gone, or
/// fails. Memory grows with the file, so that a short one costs none, however large the count.
template <class T, class Parse>
std::vector<T> read_column(TextReader& file, const Column& column, Parse parse) {
  std::vector<T> values;
  std::int64_t blank_since = 0;  // first of the blank lines just read, 0: none
  while (const std::optional<TextReader::Line> line = file.line(column.one)) {
    const std::string_view text = trimmed(line->text);
    if (text.empty()) {
      if (blank_since == 0) blank_since = line->number;
      continue;
    }
    if (blank_since != 0) {
      file.fail(blank_since, "expected " + column.some_one + ", found a blank line");
    }
    if (static_cast<std::int64_t>(values.size()) == column.count) {
      file.fail(line->number, "expected the end of the file after " + column.size);
    }
    values.push_back(parse(text, line->number));
  }
  if (static_cast<std::int64_t>(values.size()) < column.count) {
    file.fail("expected " + column.size + ", the file ends after " + std::to_string(values.size()));
  }
  return values;
}

}  // namespace amasia::formats
