#include "harness/text/folder.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace amasia {
namespace {

namespace fs = std::filesystem;

/// What is there instead of a regular file, and so is not opened; "" for one.
std::string kind_of(const fs::path& path) {
  std::error_code error;
  switch (fs::status(path, error).type()) {
    case fs::file_type::regular:
      return "";
    case fs::file_type::directory:
      return "a folder";
    case fs::file_type::fifo:
      return "a pipe";
    case fs::file_type::socket:
      return "a socket";
    case fs::file_type::block:
    case fs::file_type::character:
      return "a device";
    case fs::file_type::not_found:
      return "a link to nothing";
    default:
      return fmt::format("not to be read ({})", error.message());
  }
}

/// Whether a file may be a JSON document with members, or a packed one: what else is empty,
/// commented or binary.
bool begins_as_json(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  char c = 0;
  if (path.extension() == ".gz") return file.get(c) && c == '\x1f';
  while (file.get(c)) {
    if (std::string_view(" \t\r\n\xef\xbb\xbf").find(c) == std::string_view::npos) return c == '{';
  }
  return false;
}

}  // namespace

FolderContents json_files_in(const std::string& folder) {
  constexpr std::size_t most_notes = 8;
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const std::string name = i->path().filename().string();
    if (name.ends_with(".json") || name.ends_with(".json.gz")) paths.push_back(i->path());
  }
  std::sort(paths.begin(), paths.end());
  FolderContents contents;
  for (const fs::path& path : paths) {
    std::string kind = kind_of(path);
    if (kind == "a folder") continue;
    if (kind.empty() && !begins_as_json(path)) kind = "no JSON document";
    if (kind.empty()) {
      contents.files.push_back(path.string());
    } else {
      contents.notes.push_back(fmt::format("{} is {} and was left out", path.string(), kind));
    }
  }
  if (contents.notes.size() > most_notes + 1) {
    const std::size_t more = contents.notes.size() - most_notes;
    contents.notes.resize(most_notes);
    contents.notes.push_back(fmt::format("{} more files are no results and were left out", more));
  }
  return contents;
}

}  // namespace amasia
