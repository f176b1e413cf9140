#include "harness/text/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/text/pattern.hpp"

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

namespace fs = std::filesystem;

const char* kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

// A disk reads this much in some milliseconds, which a person who presses Ctrl-C does not notice.
constexpr std::size_t piece_bytes = 1 << 20;

volatile sig_atomic_t interrupt_signal = 0;
void note_interrupt(int signal) { interrupt_signal = signal; }

bool executable_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string on_path(std::string_view program) {
  for (const std::string& folder : split(environment("PATH"), ':')) {
    if (executable_file(fs::path(folder) / program)) return fs::path(folder) / program;
  }
  return "";
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

bool write_all(int descriptor, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
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

std::string bytes_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file || file.tellg() < 0) return "";
  std::string bytes(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
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

std::vector<std::string> json_files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const std::string name = i->path().string();
    const bool is_named_so = name.ends_with(".json") || name.ends_with(".json.gz");
    std::error_code ignored;
    if (is_named_so && i->is_regular_file(ignored)) files.push_back(name);
  }
  std::ranges::sort(files);
  return files;
}

InputFile::InputFile(std::string path, std::string place)
    : path_(std::move(path)),
      place_(std::move(place)),
      file_(path_, O_RDONLY | O_NONBLOCK) {  // a FIFO would wait for its writer
  struct stat status {};
  if (!file_.is_open() || ::fstat(file_.get(), &status) != 0) {
    refuse(fmt::format("cannot read {}: {}", path_, system_reason()));
  }
  if (!S_ISREG(status.st_mode)) {
    refuse(fmt::format("cannot read {}: it is {}, a regular file is needed", path_,
                       kind_of(status.st_mode)));
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void InputFile::refuse(const std::string& what) const {
  throw UsageError(place_.empty() ? what : place_ + ": " + what);
}

void InputFile::expect_size(std::uint64_t bytes, const std::string& what) const {
  if (size_ != bytes) {
    refuse(fmt::format("{} has {} bytes, {} takes {}", path_, size_, what, bytes));
  }
}

std::size_t InputFile::read(char* to, std::size_t most) {
  most = static_cast<std::size_t>(std::min<std::uint64_t>(most, size_ - at_));
  std::size_t done = 0;
  while (done < most) {
    if (interrupted()) throw Interrupted();
    const ssize_t n = ::read(file_.get(), to + done, std::min(piece_bytes, most - done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(fmt::format("cannot read {}: {}", path_, system_reason()));
    if (n == 0) refuse(fmt::format("cannot read {}: it became shorter meanwhile", path_));
    done += static_cast<std::size_t>(n);
  }
  at_ += done;
  return done;
}

std::string InputFile::content(std::uint64_t most) {
  if (size_ > most) {
    refuse(fmt::format("{} has {} bytes, at most {} are taken", path_, size_, most));
  }
  std::string bytes(static_cast<std::size_t>(size_ - at_), '\0');
  read(bytes.data(), bytes.size());
  return bytes;
}

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return interrupt_signal != 0; }

std::string find_tool(std::string_view program, const char* variable,
                      const std::vector<fs::path>& elsewhere) {
  std::vector<fs::path> candidates{environment(variable), on_path(program)};
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"}) {
    const std::string folder = environment(home);
    if (!folder.empty()) candidates.push_back(fs::path(folder) / "bin" / program);
  }
  if (const std::string nvcc = on_path("nvcc"); !nvcc.empty()) {
    std::error_code ignored;
    candidates.push_back(fs::canonical(nvcc, ignored).parent_path() / program);
  }
  candidates.push_back(fs::path("/usr/local/cuda/bin") / program);
  for (const fs::path& folder : elsewhere) candidates.push_back(folder / program);
  const auto found = std::ranges::find_if(candidates, executable_file);
  return found == candidates.end() ? "" : found->string();
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "amasia-XXXXXX").string();
  if (!error && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace amasia
