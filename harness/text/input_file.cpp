#include "harness/text/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/text/interrupt.hpp"

namespace amasia {
namespace {

// A disk reads this much in some milliseconds, which a person who presses Ctrl-C does not notice.
constexpr std::size_t piece_bytes = 1 << 20;

const char* kind_of(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a FIFO"
         : S_ISSOCK(mode) ? "a socket"
                          : "a device";
}

}  // namespace

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

}  // namespace amasia
