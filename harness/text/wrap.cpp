#include "harness/text/wrap.hpp"

#include <algorithm>

namespace amasia {
namespace {

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

}  // namespace

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
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

}  // namespace amasia
