#include "apps/hotspot/grid_file.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>

#include "harness/parameters.hpp"

namespace amasia::hotspot {
namespace {

// A number is at most a few dozen characters; a longer line is no such file (and, unbounded, could
// be gigabytes).
constexpr std::size_t longest_line = 256;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const std::size_t begin = text.find_first_not_of(blank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blank) - begin + 1);
}

// The bytes of the line as they may be shown in a message.
std::string quoted(std::string_view text) {
  std::string shown = "'";
  for (char c : text.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
  return shown + (text.size() > 40 ? "...'" : "'");
}

[[noreturn]] void fail(const std::string& path, std::int64_t line, const std::string& expected) {
  throw UsageError(path + ":" + std::to_string(line) + ": " + expected);
}

float parse(std::string_view text, const std::string& path, std::int64_t line) {
  float value = 0;
  // from_chars takes no leading '+', which other writers of this format may produce.
  const bool plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  const std::string_view digits = plus ? text.substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    fail(path, line, "expected a number within fp32's range, found " + quoted(text));
  }
  if (error != std::errc{} || end != digits.data() + digits.size()) {
    fail(path, line, "expected one number, found " + quoted(text));
  }
  if (!std::isfinite(value)) fail(path, line, "expected a finite number, found " + quoted(text));
  return value;
}

}  // namespace

std::vector<float> read_grid_file(const std::string& path, std::int64_t rows, std::int64_t cols) {
  const std::int64_t cells = checked_product({rows, cols}, "rows x cols");
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    throw UsageError(path + ": expected a file of numbers, found a directory");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path + ": cannot be opened for reading");

  const std::string size = std::to_string(cells) + " numbers (" + std::to_string(rows) +
                           " rows x " + std::to_string(cols) + " cols)";
  std::vector<float> values;  // grows with the file, so that a short one costs no memory
  std::int64_t line = 0;
  std::int64_t blank_since = 0;  // first of the blank lines just read, 0: none
  std::string text;
  const auto take = [&] {
    ++line;
    const std::string_view number = trimmed(text);
    if (number.empty()) {
      if (blank_since == 0) blank_since = line;
    } else {
      if (blank_since != 0) fail(path, blank_since, "expected a number, found a blank line");
      if (static_cast<std::int64_t>(values.size()) == cells) {
        fail(path, line, "expected the end of the file after " + size);
      }
      values.push_back(parse(number, path, line));
    }
    text.clear();
  };

  std::vector<char> buffer(1 << 16);
  do {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    for (const char c : std::string_view(buffer.data(), static_cast<std::size_t>(file.gcount()))) {
      if (c == '\n') {
        take();
      } else {
        text += c;
        if (text.size() > longest_line) {
          fail(path, line + 1,
               "expected one number, found a line of more than " + std::to_string(longest_line) +
                   " characters");
        }
      }
    }
  } while (file);
  if (file.bad()) throw UsageError(path + ": reading failed");
  if (!text.empty()) take();
  if (static_cast<std::int64_t>(values.size()) < cells) {
    fail(path, line + 1,
         "expected " + size + ", the file ends after " + std::to_string(values.size()));
  }
  return values;
}

void write_grid_file(const std::string& path, const std::vector<float>& cells) {
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "w"));
  if (!file) throw UsageError(path + ": cannot be opened for writing");
  bool written = true;
  for (const float cell : cells) {
    written = std::fprintf(file.get(), "%.9g\n", static_cast<double>(cell)) > 0 && written;
  }
  written = std::fclose(file.release()) == 0 && written;
  if (!written) throw UsageError(path + ": writing failed (is the disk full?)");
}

}  // namespace amasia::hotspot
