// The parent's side of the protocol. Real children are in tests/cli/test_stub.py.
#include "harness/process/isolation.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <vector>

#include "inputs/errors.hpp"

namespace amasia {
namespace {

struct Taken {
  ChildOutcome outcome{};
  std::vector<std::string> said{};
};

Taken taken(const std::vector<std::string>& lines) {
  Taken t;
  for (const std::string& line : lines) {
    take_line(line, t.outcome, [&t](const std::string& text) { t.said.push_back(text); });
  }
  return t;
}

TEST(TakeLine, FollowsTheRowAtWork) {
  const Taken t = taken({R"({"row":-1,"line":"generating"})", R"({"row":3,"line":""})"});
  EXPECT_EQ(t.outcome.row, 3);
  EXPECT_FALSE(t.outcome.finished);
  EXPECT_EQ(t.said, std::vector<std::string>{"generating"});
}

TEST(TakeLine, KeepsOfEachRowWhatItPrintedFirst) {
  // A message begins on a new line, whatever a library left on the one before.
  const Taken t = taken({"", R"({"row":2,"line":""})", "half a line", "", R"({"row":3,"line":""})",
                         "of three", "and more"});
  EXPECT_EQ(t.outcome.row, 3);
  EXPECT_EQ(t.outcome.printed, (std::map<int, std::string>{{2, "half a line"}, {3, "of three"}}));
  EXPECT_EQ(t.said, (std::vector<std::string>{"half a line", "of three", "and more"}));
}

TEST(TakeLine, TakesTheResultOrTheReason) {
  const Taken right = taken({R"({"result":{"rows":[]}})"});
  EXPECT_TRUE(right.outcome.finished);
  EXPECT_EQ(right.outcome.result.dump(), R"({"rows":[]})");
  const Taken wrong = taken({R"({"error":"no such device","usage":true})"});
  EXPECT_FALSE(wrong.outcome.finished);
  EXPECT_TRUE(wrong.outcome.usage_error);
  EXPECT_EQ(wrong.outcome.failure, "no such device");
  EXPECT_FALSE(taken({R"({"error":"it broke"})"}).outcome.usage_error);
}

TEST(TakeLine, ShowsWhatIsNotOfTheProtocol) {
  const std::vector<std::string> chatter{R"({"row":"x"})",
                                         R"({"row":1.5,"line":""})",
                                         R"({"row":1,"line":3})",
                                         R"({"row":1})",
                                         R"({"error":7})",
                                         R"({"usage":true})",
                                         "[1]",
                                         "3",
                                         "null",
                                         "{",
                                         "a library says hello"};
  const Taken t = taken(chatter);
  EXPECT_EQ(t.said, chatter);
  EXPECT_EQ(t.outcome.printed.at(-1), chatter.front());
  EXPECT_EQ(t.outcome.row, -1);
  EXPECT_FALSE(t.outcome.finished);
  EXPECT_TRUE(t.outcome.failure.empty());
  EXPECT_FALSE(taken({R"({"error":"it broke","usage":"yes"})"}).outcome.usage_error);
}

/// Whether a program that would run for half a minute is ended at once where the interrupt came
/// before it began. In a process of its own, because an interrupt is never forgotten.
bool ends_what_begins_after_an_interrupt() {
  const pid_t pid = fork();
  if (pid == 0) {
    catch_interrupts();
    raise(SIGINT);
    const auto begin = std::chrono::steady_clock::now();
    const Ended ended =
        run_program({"/bin/sleep", "30"}, "", 60, [](const std::string&) { return false; });
    const bool at_once = std::chrono::steady_clock::now() - begin < std::chrono::seconds(10);
    _exit(ended.interrupted && at_once ? 0 : 1);
  }
  int status = -1;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(RunProgram, EndsAChildThatHasHardlyBegun) {
  for (int attempt = 0; attempt < 20; ++attempt) {
    ASSERT_TRUE(ends_what_begins_after_an_interrupt()) << "attempt " << attempt;
  }
}

TEST(RunInProcess, ReportsWhatGoesWrong) {
  const auto quiet = [](const std::string&) {};
  const ChildOutcome right = run_in_process(
      {{"task", "any"}},
      [](const auto& task, const ProgressSink& progress) {
        progress(2, "at work");
        return task;
      },
      quiet);
  EXPECT_TRUE(right.finished);
  EXPECT_EQ(right.row, 2);
  EXPECT_EQ(right.result["task"], "any");
  const ChildOutcome wrong = run_in_process(
      {},
      [](const auto&, const ProgressSink& progress) -> nlohmann::ordered_json {
        progress(1, "");
        throw std::runtime_error("it broke");
      },
      quiet);
  EXPECT_FALSE(wrong.finished);
  EXPECT_EQ(wrong.failure, "it broke");
  EXPECT_EQ(wrong.row, 1);
  EXPECT_THROW(run_in_process(
                   {},
                   [](const auto&, const ProgressSink&) -> nlohmann::ordered_json {
                     throw UsageError("no");
                   },
                   quiet),
               UsageError);
}

}  // namespace
}  // namespace amasia
