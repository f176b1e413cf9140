#include "harness/text/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace amasia {
namespace {

/// A name in /proc/self/mountinfo without its escapes: "my\040file".
std::string without_escapes(std::string_view name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 3 < name.size()) {
      plain +=
          static_cast<char>((name[i + 1] - '0') * 64 + (name[i + 2] - '0') * 8 + name[i + 3] - '0');
      i += 3;
    } else {
      plain += name[i];
    }
  }
  return plain;
}

/// Whether something is mounted on this very file, so that no other one can take its name. The
/// device says nothing: of a bind mount it may be that of the folder.
bool is_mount_point(const std::string& path) {
  std::error_code error;
  const std::string name = std::filesystem::canonical(path, error).string();
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; !error && std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i < 5; ++i) words >> word;  // the fifth is where
    if (without_escapes(word) == name) return true;
  }
  return false;
}

}  // namespace

OpenFile::OpenFile(const std::string& path, int flags)
    : descriptor_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}

OpenFile::OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

OpenFile& OpenFile::operator=(OpenFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OpenFile::~OpenFile() { close(); }

bool OpenFile::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor < 0 || ::close(descriptor) == 0;
}

bool OpenFile::write_durably(std::string_view text) {
  return write(text) && ::fsync(descriptor_) == 0;
}

bool OpenFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

FileBeside create_beside(const std::string& path) {
  FileBeside beside;
  for (int attempt = 0;; ++attempt) {
    beside.name = path + ".tmp-" + std::to_string(::getpid()) + '-' + std::to_string(attempt);
    beside.file = OpenFile(beside.name, O_WRONLY | O_CREAT | O_EXCL);
    if (beside.file.is_open() || errno != EEXIST) return beside;
  }
}

Destination destination_of(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // as the kernel
  std::error_code error;
  fs::path target = path;
  for (int link = 0; link < most_links && fs::is_symlink(target, error); ++link) {
    // /dev/stdout, /dev/fd/1 and their like: what stands behind the descriptor, if it is a file at
    // all, is not ours to replace.
    if (fs::weakly_canonical(target.parent_path(), error).string().starts_with("/proc/")) {
      return {path, true, false};
    }
    const fs::path next = fs::read_symlink(target, error);
    if (error) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  const fs::file_status status = fs::status(target, error);
  const bool special =
      fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  const bool mounted = fs::is_regular_file(status) && is_mount_point(target.string());
  return {target.string(), special, mounted};
}

std::string executable_path() {
  char buffer[4096];
  const ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer);
  if (n <= 0) throw std::runtime_error("cannot read /proc/self/exe");
  return {buffer, static_cast<std::size_t>(n)};
}

std::string system_reason() { return std::strerror(errno); }

OpenFile parent_directory(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return {folder.empty() ? "." : folder.string(), O_RDONLY | O_DIRECTORY};
}

void sync_parent_directory(const std::string& path) {
  const OpenFile directory = parent_directory(path);
  if (directory.is_open()) ::fsync(directory.get());
}

}  // namespace amasia
