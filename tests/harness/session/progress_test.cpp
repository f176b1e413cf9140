#include "harness/session/progress.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <regex>
#include <string>
#include <thread>

#include "tests/messages.hpp"

namespace amasia {
namespace {

using std::chrono::milliseconds;

/// stderr of `action` where it is no terminal.
template <class Action>
std::string in_a_log(const Action& action) {
  testing::internal::CaptureStderr();
  action();
  return testing::internal::GetCapturedStderr();
}

/// stderr of `action` where it is a terminal.
template <class Action>
std::string on_a_terminal(const Action& action) {
  const int reader = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  if (reader < 0 || ::grantpt(reader) != 0 || ::unlockpt(reader) != 0) return "no terminal here";
  const int terminal = ::open(::ptsname(reader), O_RDWR | O_NOCTTY);
  termios settings{};
  ::tcgetattr(terminal, &settings);
  ::cfmakeraw(&settings);  // else it would write "\r\n" for "\n"
  ::tcsetattr(terminal, TCSANOW, &settings);
  const int before = ::dup(STDERR_FILENO);
  ::dup2(terminal, STDERR_FILENO);
  action();
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(reader, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(terminal);
  ::close(reader);
  return text;
}

TEST(Progress, WritesOneLinePerCaseIntoALog) {
  const std::string text = in_a_log([] {
    Progress progress(2, 90);
    progress.begin("hotspot 8192", 60);
    progress.note("round 3");
    progress.end("tma 1.18x");
    progress.begin("nw 16384", 30);
    progress.end("done");
  });
  EXPECT_EQ(text, "[1/2] hotspot 8192: tma 1.18x (ETA 0:00)\n[2/2] nw 16384: done (ETA 0:00)\n");
}

TEST(Progress, RewritesOneLineOfATerminal) {
  const std::string text = on_a_terminal([] {
    Progress progress(2, 90);
    progress.begin("hotspot 8192", 60);
    progress.note("round 3");
    progress.end("tma 1.18x");
  });
  EXPECT_EQ(text,
            "\r[1/2] hotspot 8192  ETA 1:30\x1b[K"
            "\r[1/2] hotspot 8192: round 3\x1b[K"
            "\r\x1b[K[1/2] hotspot 8192: tma 1.18x (ETA 0:00)\n");
}

TEST(Progress, CutsALineThatATerminalWouldWrap) {
  const std::string text = on_a_terminal([] {
    Progress progress(1, 1);
    progress.begin("nw", 1);
    progress.note(std::string(500, 'x'));
  });
  const std::size_t last = text.rfind('\r');
  EXPECT_TRUE(contains(text.substr(last), "\r[1/1] nw: xxx"));
  EXPECT_LT(text.size() - last, 120U);
}

TEST(Progress, CorrectsTheTimeLeftByWhatFinishedCasesTook) {
  const std::string text = in_a_log([] {
    Progress progress(2, 0.1 + 100);
    progress.begin("a", 0.1);
    std::this_thread::sleep_for(milliseconds(200));  // twice what was expected, or more
    progress.end("done");
  });
  std::smatch eta;
  ASSERT_TRUE(std::regex_search(text, eta, std::regex(R"(ETA (\d+):(\d\d)\))"))) << text;
  EXPECT_GE(std::stoi(eta[1]) * 60 + std::stoi(eta[2]), 199) << text;
}

}  // namespace
}  // namespace amasia
