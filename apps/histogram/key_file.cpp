#include "apps/histogram/key_file.hpp"

#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "harness/parameters.hpp"

namespace amasia::histogram {
namespace {

// An int32 has at most 11 characters; a longer line, blanks included, is no such file.
constexpr std::size_t longest_line = 256;
constexpr std::size_t piece = 1 << 16;  // bytes read at once

std::ifstream open(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    throw UsageError(path + ": expected a file of keys, found a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path + ": cannot be opened for reading");
  return file;
}

[[noreturn]] void fail(const std::string& path, std::int64_t line, const std::string& expected) {
  throw UsageError(path + ":" + std::to_string(line) + ": " + expected);
}

// The bytes of a line as they may be shown in a message.
std::string quoted(std::string_view text) {
  std::string shown = "'";
  for (const char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > 40 ? "...'" : "'");
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

std::int32_t parse(std::string_view text, const std::string& path, std::int64_t line) {
  std::int32_t key = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), key);
  if (error == std::errc::result_out_of_range) {
    fail(path, line, "expected an integer of 32 bits, found " + quoted(text));
  }
  if (error != std::errc{} || end != text.data() + text.size()) {
    fail(path, line, "expected one integer, found " + quoted(text));
  }
  return key;
}

}  // namespace

std::vector<std::int32_t> read_byte_keys(const std::string& path, std::int64_t count) {
  std::ifstream file = open(path);
  std::vector<std::int32_t> keys;  // grows with the file, so that a short one costs no memory
  std::vector<char> buffer(piece);
  do {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(file.gcount()))) {
      if (static_cast<std::int64_t>(keys.size()) == count) {
        throw UsageError(path + ": expected " + std::to_string(count) +
                         " bytes, as many as keys, the file has more");
      }
      keys.push_back(static_cast<unsigned char>(c));
    }
  } while (file);
  if (file.bad()) throw UsageError(path + ": reading failed");
  if (static_cast<std::int64_t>(keys.size()) < count) {
    throw UsageError(path + ": expected " + std::to_string(count) +
                     " bytes, as many as keys, the file has " + std::to_string(keys.size()));
  }
  return keys;
}

std::vector<std::int32_t> read_text_keys(const std::string& path, std::int64_t count) {
  std::ifstream file = open(path);
  std::vector<std::int32_t> keys;
  std::int64_t line = 0;
  std::int64_t blank_since = 0;  // first of the blank lines just read, 0: none
  std::string text;
  const auto take = [&] {
    ++line;
    const std::string_view number = trimmed(text);
    if (number.empty()) {
      if (blank_since == 0) blank_since = line;
    } else {
      if (blank_since != 0) fail(path, blank_since, "expected an integer, found a blank line");
      if (static_cast<std::int64_t>(keys.size()) == count) {
        fail(path, line, "expected the end of the file after " + std::to_string(count) + " keys");
      }
      keys.push_back(parse(number, path, line));
    }
    text.clear();
  };

  std::vector<char> buffer(piece);
  do {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(file.gcount()))) {
      if (c == '\n') {
        take();
        continue;
      }
      text += c;
      if (text.size() > longest_line) {
        fail(path, line + 1,
             "expected one integer, found a line of more than " + std::to_string(longest_line) +
                 " characters");
      }
    }
  } while (file);
  if (file.bad()) throw UsageError(path + ": reading failed");
  if (!text.empty()) take();
  if (static_cast<std::int64_t>(keys.size()) < count) {
    fail(path, line + 1,
         "expected " + std::to_string(count) + " keys, the file ends after " +
             std::to_string(keys.size()));
  }
  return keys;
}

}  // namespace amasia::histogram
