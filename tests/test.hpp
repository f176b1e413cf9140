// What nearly every test includes: GoogleTest and the standard library, a folder that goes away,
// files recorded in tests/golden/, and the message of an exception, so that its wording can be
// asserted.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <ranges>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace amasia {

inline std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// `text` with another part in place of its first `part`.
inline std::string replaced(std::string text, std::string_view part, std::string_view other) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return text.replace(at, part.size(), other);
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

/// A new folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_(std::filesystem::temp_directory_path() / "amasia-test-XXXXXX") {
    std::string name = path_.string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A device like /dev/null. Root gets one of its own, because root could replace the machine's.
inline std::string null_device(const TemporaryFolder& folder) {
  const std::string path = folder / "null";
  if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0) return path;
  if (::geteuid() == 0) throw std::runtime_error("root cannot make a device here");
  return "/dev/null";
}

/// Writes beyond this size fail half way, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(std::size_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit tight = old_;
    tight.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &tight);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

/// `text` must be what tests/golden/<name> holds. AMASIA_UPDATE_GOLDEN=1 records it instead, for a
/// person to read in the diff.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(AMASIA_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("AMASIA_UPDATE_GOLDEN") != nullptr) write_text(path, text);
  EXPECT_EQ(read_text(path), text)
      << "differs from tests/golden/" << name << "; AMASIA_UPDATE_GOLDEN=1 records it anew";
}

/// what() of the Error that `action` throws; a failure and "" when it throws none.
template <class Error, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

inline testing::AssertionResult is_one_line(const std::string& text) {
  if (!text.empty() && text.find('\n') == std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "not one line: \"" << text << "\"";
}

}  // namespace amasia
