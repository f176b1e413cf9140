#include "harness/text/output.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "harness/text/file.hpp"

namespace amasia {
namespace {

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF; }

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// How many bytes the first `columns` characters of `text` take.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t bytes = 0;
  for (; bytes < text.size(); ++bytes) {
    if (continues(text[bytes])) continue;
    if (columns-- == 0) break;
  }
  return bytes;
}

constexpr std::string_view plain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  const bool escaped = std::ranges::any_of(word, is_control);
  std::string text = escaped ? "$'" : "'";
  for (const char c : word) {
    if (is_control(c)) {
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (escaped) {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    } else {
      text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
  }
  return text + '\'';
}

}  // namespace

void secure_standard_streams() {
  // In this order: open() takes the lowest number that is free.
  if (!is_open(STDIN_FILENO)) ::open("/dev/null", O_RDONLY);
  if (!is_open(STDOUT_FILENO)) ::open("/dev/null", O_RDONLY);  // write(2) to it is refused
  if (!is_open(STDERR_FILENO)) ::open("/dev/null", O_WRONLY);
  std::signal(SIGPIPE, SIG_IGN);
}

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
#endif
}

std::string in_one_line(std::string_view text) {
  constexpr std::size_t most = 2000;
  std::string line(text.substr(0, most));
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  if (text.size() > most) line += "...";
  return line;
}

std::string reason_of(const std::exception& error) {
  const bool of_memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
                         dynamic_cast<const std::length_error*>(&error) != nullptr;
  return of_memory ? "out of host memory" : error.what();
}

std::string in_colour(Colour colour, const std::string& text) {
  static const bool coloured = [] {
    const char* const forbidden = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && (forbidden == nullptr || *forbidden == '\0') &&
           terminal != nullptr && terminal != std::string_view("dumb");
  }();
  return coloured ? fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text) : text;
}

void write_prose(std::string_view text) noexcept {
  constexpr std::pair<std::string_view, Colour> first_words[] = {
      {"amasia:", Colour::red}, {"FAILED", Colour::red},      {"CRASHED", Colour::red},
      {"INVALID", Colour::red}, {"warning:", Colour::yellow}, {"interrupted:", Colour::yellow},
      {"next:", Colour::cyan}};
  for (const auto& [word, colour] : first_words) {
    if (!text.starts_with(word)) continue;
    write_all(STDERR_FILENO, in_colour(colour, std::string(word)));
    text.remove_prefix(word.size());
  }
  write_all(STDERR_FILENO, text);
}

void write_data(std::string_view text) {
  errno = 0;
  // Through stdio, so that it comes after what others have printed before.
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return;
  }
  if (errno != EPIPE) throw OutputError("stdout cannot be written: " + system_reason());
}

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

std::string wrapped(std::string_view first, std::string_view text, std::size_t indent,
                    std::size_t columns) {
  std::string page, line(first);
  bool empty = true;  // no word on this line yet
  const auto new_line = [&] {
    line.erase(line.find_last_not_of(' ') + 1);
    page += line + '\n';
    line.assign(indent, ' ');
    empty = true;
  };
  if (columns_of(line) > indent && !line.ends_with(' ')) new_line();
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string_view word = text.substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    if (!empty && columns_of(line) + 1 + columns_of(word) > columns) new_line();
    if (!empty) line += ' ';
    if (columns_of(line) >= columns && columns_of(line) > indent)
      new_line();  // `first` is all of it
    while (columns_of(line) + columns_of(word) > columns) {
      const std::size_t room = columns > columns_of(line) ? columns - columns_of(line) : 1;
      const std::size_t part = bytes_of(word, room);
      line += word.substr(0, part);
      word.remove_prefix(part);
      new_line();
    }
    line += word;
    empty = empty && word.empty();
  }
  if (!empty || page.empty()) {
    line.erase(line.find_last_not_of(' ') + 1);
    page += line + '\n';
  }
  return page;
}

std::string in_shell(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

}  // namespace amasia
