#include "cmake/digests/sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace amasia::digests {
namespace fs = std::filesystem;
namespace {

bool is_below(const fs::path& file, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end();
}

/// Relative to the root.
bool is_counted_folder(const std::string& path) {
  const std::array<std::string, 4> folders = {"apps/", "microbench/", "variants/", "inputs/"};
  return std::any_of(folders.begin(), folders.end(),
                     [&](const auto& folder) { return path.rfind(folder, 0) == 0; });
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
