#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace amasia::digests {

/// What of a file counts in a digest. A C++ or CUDA source is the sequence of its tokens: comments,
/// blank space, line breaks, includes and #pragma once change nothing, everything else does.
/// A CMake file is its commands without comments; any other file is its bytes.
struct Content {
  std::string hash;  ///< SHA-256; empty where nothing counts, as in a file of includes
  std::set<std::string> registers;  ///< of "variant", "comparator", "microbenchmark", "ceiling"
};

Content content_of(std::string_view path, std::string text);

/// In hexadecimal digits.
std::string sha256(std::string_view text);

/// Paths relative to the root, or absolute. Sorted, because a digest is one of a set.
using Paths = std::set<std::string>;

/// The sources of a tree: their content, what they include, and digests of sets of them.
class Sources {
 public:
  /// `root` holds variants/ and inputs/. Of an app outside that tree, `app_folder` holds its
  /// sources.
  explicit Sources(std::filesystem::path root, std::filesystem::path app_folder = {});

  /// What a library holds of an implementation that is not here.
  void set_known(const std::string& path, const std::string& hash,
                 std::vector<std::string> includes);

  const Content& content(const std::string& path);
  bool registers(const std::string& path, const std::string& kind) {
    return content(path).registers.count(kind) != 0;
  }

  /// The project's files that `path` includes with quotes, and the implementation of a header: the
  /// .cpp of its name beside it. Includes of the harness do not count: it has a digest of its own.
  const std::vector<std::string>& includes_of(const std::string& path);

  /// `paths` and all that they include, directly or not.
  Paths closure_of(const Paths& paths);

  /// Files below `folder` with one of the extensions. Without `recursive` those in it.
  Paths files_of(const std::string& folder, const std::set<std::string>& extensions,
                 bool recursive = true) const;

  bool exists(const std::string& path) const { return std::filesystem::exists(file_of(path)); }

  /// The SHA-256 of the sorted set of content hashes, without paths: a moved or renamed file
  /// changes nothing. `options`, if any, is one content more. Adds to the manifest.
  std::string digest_of(const std::string& name, const Paths& files,
                        const std::string& options = "");

  /// "name hash path", a line for each file of each digest so far: two manifests show which file
  /// made two digests differ.
  const std::string& manifest() const { return manifest_; }

 private:
  std::filesystem::path file_of(const std::string& path) const { return root_ / path; }
  bool is_of_app(const std::filesystem::path& file) const;
  std::string included_file(const std::string& includer, const std::string& name) const;

  std::filesystem::path root_;
  std::filesystem::path app_folder_;
  std::map<std::string, Content> contents_;
  std::map<std::string, std::vector<std::string>> includes_;
  std::string manifest_;
};

std::string read_file(const std::filesystem::path& file);

}  // namespace amasia::digests
