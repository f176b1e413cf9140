#include "harness/session/progress.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include "harness/text/output.hpp"

namespace amasia {
namespace {
constexpr std::size_t terminal_columns = 110;
}

Progress::Progress(int cases, double expected_seconds)
    : cases_(cases), expected_left_(expected_seconds), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::begin(const std::string& name, double expected_seconds) {
  ++current_;
  name_ = name;
  expected_current_ = expected_seconds;
  case_begin_ = std::chrono::steady_clock::now();
  if (terminal_) rewrite(fmt::format("[{}/{}] {}  ETA {}", current_, cases_, name_, eta()));
}

void Progress::note(const std::string& line) {
  if (terminal_) rewrite(fmt::format("[{}/{}] {}: {}", current_, cases_, name_, line));
}

void Progress::end(const std::string& line) {
  spent_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - case_begin_).count();
  expected_left_ -= expected_current_;
  expected_done_ += expected_current_;
  if (terminal_) rewrite("");
  print_prose("[{}/{}] {}: {} (ETA {})\n", current_, cases_, name_, line, eta());
}

std::string Progress::eta() const {
  // Once cases are done, what they took corrects what was expected of the rest.
  const double scale = expected_done_ > 0 ? spent_ / expected_done_ : 1;
  const int seconds = static_cast<int>(std::max(0.0, expected_left_ * scale));
  return fmt::format("{}:{:02d}", seconds / 60, seconds % 60);
}

void Progress::rewrite(const std::string& line) {
  // CR and "erase to end of line": cursor control, not colour.
  print_prose("\r{}\x1b[K", line.substr(0, terminal_columns));
}

}  // namespace amasia
