#include "inputs/formats/text_reader.hpp"

#include <filesystem>
#include <utility>

#include "inputs/errors.hpp"

namespace amasia::formats {
namespace {

constexpr std::size_t bytes_at_once = 1 << 16;

bool is_blank(unsigned char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t most_shown = 40;
  std::string shown = "'";
  for (const char c : text.substr(0, most_shown)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > most_shown ? "...'" : "'");
}

TextReader::TextReader(std::string path, std::string_view content)
    : path_(std::move(path)), buffer_(bytes_at_once) {
  std::error_code code;
  if (std::filesystem::is_directory(path_, code)) {
    fail_file("expected a file " + std::string(content) + ", found a directory");
  }
  file_.open(path_, std::ios::binary);
  if (!file_) fail_file("cannot be opened for reading");
}

std::optional<TextReader::Line> TextReader::line(std::string_view expected) {
  text_.clear();
  const std::int64_t number = line_;
  while (const std::optional<unsigned char> next = byte()) {
    if (*next == '\n') return Line{number, text_};
    append(*next, expected, "line");
  }
  if (text_.empty()) return std::nullopt;
  ++line_;  // the end of the file ends its last line, too
  return Line{number, text_};
}

std::optional<std::string_view> TextReader::word(std::string_view expected) {
  text_.clear();
  while (at_ < size_ || refill()) {
    const auto next = static_cast<unsigned char>(buffer_[at_]);
    // The blank behind a word stays: an end of line counts when the next word is looked for.
    if (is_blank(next) && !text_.empty()) break;
    byte();
    if (!is_blank(next)) append(next, expected, "word");
  }
  if (text_.empty()) return std::nullopt;
  return text_;
}

void TextReader::append(unsigned char next, std::string_view expected, std::string_view unit) {
  if (text_.size() == longest) {
    fail("expected " + std::string(expected) + ", found a " + std::string(unit) + " of more than " +
         std::to_string(longest) + " characters");
  }
  text_ += static_cast<char>(next);
}

void TextReader::fail(std::int64_t line, const std::string& expected) const {
  throw UsageError(path_ + ":" + std::to_string(line) + ": " + expected);
}

void TextReader::fail_file(const std::string& expected) const {
  throw UsageError(path_ + ": " + expected);
}

bool TextReader::refill() {
  file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  size_ = static_cast<std::size_t>(file_.gcount());
  at_ = 0;
  if (file_.bad()) fail_file("reading failed");
  return size_ > 0;
}

}  // namespace amasia::formats
