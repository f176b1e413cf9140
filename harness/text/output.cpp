#include "harness/text/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "harness/text/file.hpp"

namespace amasia {
namespace {

bool is_open(int descriptor) { return ::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF; }

void write_to_stderr(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

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

std::string in_colour(Colour colour, const std::string& text) {
  static const bool coloured = [] {
    const char* const forbidden = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) == 1 && (forbidden == nullptr || *forbidden == '\0') &&
           terminal != nullptr && terminal != std::string_view("dumb");
  }();
  return coloured ? fmt::format("\x1b[{}m{}\x1b[0m", static_cast<int>(colour), text) : text;
}

void write_prose(std::string_view text) noexcept {
  constexpr std::pair<std::string_view, Colour> first_words[] = {
      {"amasia:", Colour::red}, {"FAILED", Colour::red},      {"CRASHED", Colour::red},
      {"INVALID", Colour::red}, {"warning:", Colour::yellow}, {"interrupted:", Colour::yellow},
      {"next:", Colour::cyan}};
  for (const auto& [word, colour] : first_words) {
    if (!text.starts_with(word)) continue;
    write_to_stderr(in_colour(colour, std::string(word)));
    text.remove_prefix(word.size());
  }
  write_to_stderr(text);
}

void write_data(std::string_view text) {
  errno = 0;
  // Through stdio, so that it comes after what others have printed before.
  if (std::fwrite(text.data(), 1, text.size(), stdout) < text.size() || std::fflush(stdout) != 0) {
    throw OutputError("stdout cannot be written: " + system_reason());
  }
}

}  // namespace amasia
