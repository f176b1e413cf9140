#include "harness/text/shell.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace amasia {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string quoted(const std::string& word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  const bool escaped = std::any_of(word.begin(), word.end(), is_control);
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

std::string in_shell(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + quoted(word);
  return line;
}

}  // namespace amasia
