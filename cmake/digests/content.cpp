#include "cmake/digests/content.hpp"

#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <regex>
#include <utility>

namespace amasia::digests {
namespace {

// Recorded results bind to these rules: what they make of a source must never change. Characters
// that no source contains stand for what the first writer of digests could not hold, and mark the
// ends of a preprocessor directive, in which a line break does count.
constexpr std::string_view stand_ins = ";\4[\5]\6";
constexpr std::string_view joined_lines = "\7";
#define BLANK "[ \t\7]"
#define NAME "[A-Za-z_][A-Za-z0-9_]*"

// The first alternative that matches counts. '>' is taken alone where templates may end: formatters
// write both ">>" and "> >".
const std::regex token(
    "\1#" BLANK "*(?:include|pragma" BLANK
    "+once)[^\n]*"                                          // does not count
    "|//[^\n\2]*"                                           // does not count
    "|(?:u8|[uUL])?\"[^\"\\\\\n]*(?:\\\\.[^\"\\\\\n]*)*\""  // a string
    "|'(?:[^'\\\\\n]|\\\\[^\n][^'\n]*)'"
    "|" NAME
    "|\\.?[0-9](?:[eEpP][+-]|'?[A-Za-z0-9_.])*"
    "|\\.\\.\\.|->\\*|<=>|<<<|<<=|\\+\\+|--|->|\\.\\*|::|##|&&|\\|\\||<<|[-+*/%&|^!<>=]="
    "|[^ \t\n\\\\\7]",
    std::regex::optimize);

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

/// The length of what `begin` and `end` enclose at the beginning of `text`, or 0. A regular
/// expression would take a stack as deep as a comment is long.
std::size_t enclosed(std::string_view text, std::string_view begin, std::string_view end) {
  if (!text.starts_with(begin)) return 0;
  const std::size_t at = text.find(end, begin.size());
  return at == text.npos ? 0 : at + end.size();
}

/// The length of the token at the beginning of `text`, and whether it counts.
std::pair<std::size_t, bool> next_token(std::string_view text) {
  if (const std::size_t length = enclosed(text, "/*", "*/")) return {length, false};
  if (const std::size_t length = enclosed(text, "R\"(", ")\"")) return {length, true};
  std::cmatch matched;
  const char* const end = text.data() + text.size();
  if (!std::regex_search(text.data(), end, matched, token, std::regex_constants::match_continuous))
    return {1, false};
  const auto length = static_cast<std::size_t>(matched.length());
  return {length, !text.starts_with("//") && (text[0] != '\1' || length == 1)};
}

/// The tokens, one a line. Adjacent string literals are one.
std::string tokens_of(std::string text) {
  text = "\n" + text + "\n";
  // A raw string with a delimiter: such a file counts as it stands.
  if (std::regex_search(text, std::regex("R\"[^ ()\\\\\n\"]+\\("))) return text;
  for (std::size_t i = 0; i < stand_ins.size(); i += 2) {
    std::replace(text.begin(), text.end(), stand_ins[i], stand_ins[i + 1]);
  }
  replace_all(text, "\\\n", joined_lines);
  text = std::regex_replace(text, std::regex("(\n" BLANK "*)#([^\n]*)"), "$1\1#$2\2");
  // "#define f(x)" is a function, "#define f (x)" is not.
  text =
      std::regex_replace(text, std::regex("(\1#" BLANK "*define" BLANK "+" NAME ")\\("), "$1\3(");
  std::string tokens;
  for (std::string_view rest = text; !rest.empty();) {
    const auto [length, counts] = next_token(rest);
    if (counts) tokens.append(tokens.empty() ? "" : "\n").append(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  replace_all(tokens, "\"\n\"", "");
  return tokens;
}

std::string commands_of(const std::string& text) {
  std::string commands = std::regex_replace(text, std::regex("#[^\n]*"), "");
  commands = std::regex_replace(commands, std::regex("[ \t\r\n]+"), " ");
  commands = std::regex_replace(commands, std::regex(" *([()]) *"), "$1");
  return std::regex_replace(commands, std::regex("^ | $"), "");
}

}  // namespace

std::string sha256(std::string_view text) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, text.size(), reinterpret_cast<const std::uint8_t*>(text.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> bytes;
  sha256_digest(&context, bytes.size(), bytes.data());
  std::string digits;
  for (const std::uint8_t byte : bytes) {
    for (const int half : {byte >> 4, byte & 15}) digits.push_back("0123456789abcdef"[half]);
  }
  return digits;
}

Content content_of(std::string_view path, std::string text) {
  const std::string_view extension = path.substr(std::min(path.rfind('.'), path.size()));
  std::erase(text, '\r');
  Content content;
  if (extension == ".cu" || extension == ".cuh" || extension == ".cpp" || extension == ".hpp") {
    text = tokens_of(std::move(text));
    for (const std::string kind : {"variant", "comparator", "microbenchmark", "ceiling"}) {
      if (text.find("\nregister_" + kind + "\n") != text.npos) content.registers.insert(kind);
    }
  } else if (extension == ".cmake") {
    text = commands_of(text);
  }
  if (!text.empty()) content.hash = sha256(text);
  return content;
}

}  // namespace amasia::digests
