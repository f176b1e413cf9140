#include "cmake/digests/sources.hpp"

#include <fmt/format.h>
#include <nettle/sha2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace amasia::digests {
namespace fs = std::filesystem;
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

bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

/// Relative to the root.
bool is_counted_folder(const std::string& path) {
  const std::string room = path.substr(0, path.find('/') + 1);
  return room == "apps/" || room == "microbench/" || room == "variants/" || room == "inputs/";
}

/// The name in `# include "name"`, empty for other lines.
std::string quoted_include(std::string_view line) {
  for (const std::string_view word : {"#", "include", "\""}) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with(word)) return {};
    line.remove_prefix(word.size());
  }
  return std::string(line.substr(0, line.find('"')));
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

std::string read_file(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error(file.string() + " cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

Sources::Sources(fs::path root, fs::path app_folder)
    : root_(root.lexically_normal()), app_folder_(app_folder.lexically_normal()) {}

void Sources::set_known(const std::string& path, const std::string& hash,
                        std::vector<std::string> includes) {
  contents_[path] = {hash, {}};
  includes_[path] = std::move(includes);
}

const Content& Sources::content(const std::string& path) {
  const auto found = contents_.find(path);
  return found != contents_.end()
             ? found->second
             : contents_.emplace(path, content_of(path, read_file(file_of(path)))).first->second;
}

/// What lies below the root does not, where the app's project has the suite as a part.
bool Sources::is_of_app(const fs::path& file) const {
  return !app_folder_.empty() && is_below(file, app_folder_) &&
         !(is_below(root_, app_folder_) && is_below(file, root_));
}

/// Found beside the includer or from the root, as the compiler does; empty if it is none of the
/// project's.
std::string Sources::included_file(const std::string& includer, const std::string& name) const {
  std::vector<fs::path> candidates = {fs::path(includer).parent_path() / name, name};
  if (!app_folder_.empty()) candidates.push_back(app_folder_ / name);
  for (const fs::path& candidate : candidates) {
    const std::string path = candidate.lexically_normal().string();
    if (exists(path) && (is_of_app(file_of(path)) || is_counted_folder(path))) return path;
  }
  return {};
}

const std::vector<std::string>& Sources::includes_of(const std::string& path) {
  const auto known = includes_.find(path);
  if (known != includes_.end()) return known->second;
  std::vector<std::string> found;
  std::istringstream lines(read_file(file_of(path)));
  for (std::string line; std::getline(lines, line);) {
    const std::string name = quoted_include(line);
    const std::string file = name.empty() ? name : included_file(path, name);
    if (!file.empty()) found.push_back(file);
  }
  fs::path implementation = path;
  if (implementation.extension() == ".hpp" || implementation.extension() == ".cuh") {
    implementation.replace_extension("cpp");
    if (contents_.count(implementation.string()) != 0 || exists(implementation.string())) {
      found.push_back(implementation.string());
    }
  }
  return includes_.emplace(path, std::move(found)).first->second;
}

Paths Sources::closure_of(const Paths& paths) {
  Paths closed;
  std::vector<std::string> open(paths.begin(), paths.end());
  while (!open.empty()) {
    const std::string next = open.back();
    open.pop_back();
    if (!closed.insert(next).second) continue;
    const std::vector<std::string>& more = includes_of(next);
    open.insert(open.end(), more.begin(), more.end());
  }
  return closed;
}

Paths Sources::files_of(const std::string& folder, const std::set<std::string>& extensions,
                        bool recursive) const {
  Paths files;
  const fs::path start = file_of(folder);
  if (!fs::is_directory(start)) return files;
  for (auto entry = fs::recursive_directory_iterator(start); entry != fs::end(entry); ++entry) {
    if (!recursive) entry.disable_recursion_pending();
    if (entry->is_directory() || extensions.count(entry->path().extension().string()) == 0)
      continue;
    files.insert(entry->path().lexically_relative(root_).generic_string());
  }
  return files;
}

std::string Sources::digest_of(const std::string& name, const Paths& files,
                               const std::string& options) {
  std::set<std::string> hashes;
  const auto count = [&](const std::string& hash, const std::string& what) {
    hashes.insert(hash);
    manifest_ += fmt::format("{} {} {}\n", name, hash, what);
  };
  for (const std::string& path : files) {
    if (const std::string& hash = content(path).hash; !hash.empty()) count(hash, path);
  }
  if (!options.empty()) count(sha256(options), options);
  std::string joined;
  for (const std::string& hash : hashes) joined += (joined.empty() ? "" : ";") + hash;
  return sha256(joined);
}

}  // namespace amasia::digests
