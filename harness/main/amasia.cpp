#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

#include "harness/cli/command_line.hpp"
#include "harness/registry.hpp"

// Apps and variants register themselves when objects at namespace scope are initialised, before
// main(). Whatever fails there would end the program with the runtime's own words, which name
// neither the program nor what it was doing.
namespace {

constexpr int fatal_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// Nothing that could allocate: also called in a signal handler.
void say_what_ended(const char* what) {
  char line[1024];
  const amasia::SourceLine last = amasia::last_registration();
  const int length = std::snprintf(
      line, sizeof line,
      "amasia: before main(), while apps and variants register themselves: %.400s; the last that "
      "did was at %.400s:%d, so look at what is initialised after it (gdb shows where)\n",
      what, last.line == 0 ? "nowhere" : last.file, last.line);
  if (length > 0 && ::write(STDERR_FILENO, line, std::strlen(line)) < 0) _exit(1);
}

[[noreturn]] void say_exception() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
    say_what_ended("std::terminate() was called");
  } catch (const std::exception& error) {
    say_what_ended(error.what());
  } catch (...) {
    say_what_ended("something was thrown that is no std::exception");
  }
  _exit(1);
}

void say_signal(int signal) {
  say_what_ended(signal == SIGSEGV   ? "a segmentation fault"
                 : signal == SIGABRT ? "an abort"
                                     : "a fatal signal");
  std::signal(signal, SIG_DFL);
  raise(signal);
}

std::terminate_handler handler_of_main = nullptr;

/// 101 is the first priority that is no compiler's: in front of every initialiser without one.
[[gnu::constructor(101)]] void watch_registration() {
  handler_of_main = std::set_terminate(say_exception);
  for (const int signal : fatal_signals) std::signal(signal, say_signal);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(handler_of_main);
  for (const int signal : fatal_signals) std::signal(signal, SIG_DFL);
  return amasia::amasia_main(argc, argv);
}
