#include "harness/text/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>

#include "harness/text/file.hpp"

namespace amasia {
namespace {

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF; }

}  // namespace

void secure_standard_streams() {
  // In this order: open() takes the lowest number that is free.
  if (!is_open(STDIN_FILENO)) ::open("/dev/null", O_RDONLY);
  if (!is_open(STDOUT_FILENO)) ::open("/dev/null", O_RDONLY);  // write(2) to it is refused
  if (!is_open(STDERR_FILENO)) ::open("/dev/null", O_WRONLY);
  std::signal(SIGPIPE, SIG_IGN);
}

std::string in_one_line(std::string_view text) {
  constexpr std::size_t most = 2000;
  std::string line(text.substr(0, most));
  for (char& c : line) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  if (text.size() > most) line += "...";
  return line;
}

void write_prose(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_data(std::string_view text) {
  errno = 0;
  // Through stdio, so that it comes after what others have printed before.
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() || std::fflush(stdout) != 0) {
    throw OutputError("stdout cannot be written: " + system_reason());
  }
}

}  // namespace amasia
