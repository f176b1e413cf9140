#include "harness/text/json_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <nlohmann/json.hpp>

#include "harness/text/file.hpp"

namespace amasia {
namespace {

/// Where `text` has more levels than a document may have; npos when it has not. Text need not be
/// JSON: what is open is then a little more or less, and the parser says what is wrong.
std::size_t too_deep_at(std::string_view text) {
  constexpr int most = 64;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

constexpr const char* nesting_reason = "expected at most 64 levels of arrays and objects";

/// The message of the parser without its prefix "[json.exception...] parse error at line .., column
/// ..: ".
std::string reason_of(const nlohmann::json::exception& error) {
  std::string text = error.what();
  const std::size_t prefix = text.find("] ");
  if (prefix == std::string::npos) return text;
  const std::size_t column = text.find("column ", prefix);
  const std::size_t colon = column == std::string::npos ? column : text.find(": ", column);
  return text.substr((colon == std::string::npos ? prefix : colon) + 2);
}

}  // namespace

void check_nesting(std::string_view text) {
  if (too_deep_at(text) != std::string_view::npos) throw ResultError(nesting_reason);
}

std::string compact(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(const std::string& text, const std::string& name) {
  const auto refuse = [&](std::size_t at, const std::string& reason) {
    const std::string_view before = std::string_view(text).substr(0, at);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t line_end = before.rfind('\n');  // of the line before
    const std::size_t column = line_end == std::string_view::npos ? at + 1 : at - line_end;
    throw ResultError(name + ':' + std::to_string(line) + ':' + std::to_string(column) + ": " +
                      reason);
  };
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw ResultError(name + ": expected JSON, found nothing");
  }
  // The parser would take a zero byte, as a crash leaves them, for the end of the text.
  const std::size_t zero = text.find('\0');
  if (zero != std::string::npos) refuse(zero, "expected JSON, found a zero byte");
  const std::size_t deep = too_deep_at(text);
  if (deep != std::string::npos) refuse(deep, nesting_reason);
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    refuse(std::min(error.byte == 0 ? 0 : error.byte - 1, text.size()), reason_of(error));
  } catch (const nlohmann::json::exception& error) {  // a number that no double can hold
    throw ResultError(name + ": " + reason_of(error));
  }
  return {};  // not reached: refuse() throws
}

std::string read_text_file(const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{1} << 28;
  const auto refuse = [&](const std::string& why) { throw ResultError(path + ": " + why); };
  // First without waiting for the writer of a pipe, then with.
  OpenFile file(path, O_RDONLY | O_NONBLOCK);
  if (!file.is_open()) refuse("cannot be read: " + system_reason());
  struct stat status {};
  if (::fstat(file.get(), &status) == 0 && S_ISDIR(status.st_mode)) refuse("is a directory");
  ::fcntl(file.get(), F_SETFL, 0);
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse("cannot be read: " + system_reason());
    if (n == 0) return text;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > most_bytes) refuse("is larger than 256 MiB");
  }
}

Json read_json_file(const std::string& path) {
  const std::string text = read_text_file(path);
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    throw ResultError(path + ": expected JSON text in UTF-8, found UTF-16: convert it");
  }
  return parse_json(text, path);
}

void write_text_file(const std::string& path, const std::string& text) {
  const Destination destination = destination_of(path);
  if (destination.special || destination.mounted) {
    // O_APPEND for a regular file behind /dev/stdout: it may hold something already.
    OpenFile file(destination.path, O_WRONLY | (destination.special ? O_APPEND : O_TRUNC));
    const bool written =
        file.is_open() && (destination.special ? file.write(text) : file.write_durably(text));
    if (written && file.close()) return;
    throw ResultError(path + ": cannot be written: " + system_reason());
  }
  FileBeside unfinished = create_beside(destination.path);
  // A quota or a full disk shows in any of the three.
  const bool written =
      unfinished.file.is_open() && unfinished.file.write_durably(text) && unfinished.file.close();
  if (!written || ::rename(unfinished.name.c_str(), destination.path.c_str()) != 0) {
    const std::string reason = system_reason();
    ::unlink(unfinished.name.c_str());
    throw ResultError(path + ": cannot be " + (written ? "replaced: " : "written: ") + reason);
  }
  sync_parent_directory(destination.path);
}

}  // namespace amasia
