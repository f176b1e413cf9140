// The parent's side of the protocol. Real children are in tests/cli/test_stub.py.
#include <sys/wait.h>

#include <chrono>

#include "harness/errors.hpp"
#include "harness/process/isolation.hpp"
#include "harness/process/profiler.hpp"
#include "harness/results/profile.hpp"
#include "harness/text/output.hpp"
#include "inputs/errors.hpp"
#include "tests/test.hpp"

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

NcuOutput golden_output(const std::string& name) {
  const std::string path = std::string(AMASIA_SOURCE_DIR) + "/tests/golden/ncu/" + name;
  return parse_ncu_output(read_text(path), name);
}

/// Printed by version 2025.3 on an H100, some of its columns.
TEST(NcuOutput, IsReadAsItWasPrinted) {
  const NcuOutput output = golden_output("h100.csv");
  ASSERT_EQ(output.results.size(), 3u);
  const CountedResult& kernel = output.results[1];
  EXPECT_DOUBLE_EQ(kernel.at("smsp__inst_executed.sum"), 7053483);
  EXPECT_DOUBLE_EQ(kernel.at("gpu__time_duration.sum"), 13088);
  EXPECT_DOUBLE_EQ(kernel.at("launch__registers_per_thread"), 22);
  EXPECT_FALSE(kernel.contains("launch__cluster_scheduling_policy"));
  EXPECT_FALSE(kernel.contains("derived__local_spilling_requests_pct"));  // "no data"
  const Counters counters = counters_of(kernel);
  EXPECT_EQ(counters.stalls.size(), std::size(stall_reasons));
  EXPECT_NEAR(counters.stalls.at("selected"), 1 / 20.84, 1e-9);
  EXPECT_NEAR(counters.stalls.at("long_scoreboard"), 8.67 / 20.84, 1e-9);
}

TEST(NcuOutput, ErrorsAreKept) {
  const NcuOutput output = golden_output("forbidden.txt");
  EXPECT_TRUE(output.results.empty());
  ASSERT_EQ(output.errors.size(), 1u);
  EXPECT_EQ(output.errors[0].rfind("ERR_NVGPUCTRPERM - ", 0), 0u);
  EXPECT_NE(why_forbidden(output).find("NVreg_RestrictProfilingToAdminUsers=0"), std::string::npos);
  EXPECT_EQ(why_forbidden(golden_output("raw.csv")), "");
}

TEST(NcuOutput, WhatIsNoNumberIsAbsent) {
  const auto counted = [](const std::string& value) {
    return parse_ncu_output("\"ID\",\"a__b\"\n\"0\",\"" + value + "\"\n", "it").results.at(0);
  };
  EXPECT_EQ(counted("-1,234,567.5"), (CountedResult{{"a__b", -1234567.5}}));
  for (const char* none : {"", "n/a", "(!) n/a", "nan", "inf", "1.5x", "-", ",", "0x10"}) {
    EXPECT_EQ(counted(none), CountedResult{}) << none;
  }
}

TEST(FreedMemory, ServesTheNextArray) {
  constexpr long bytes = 64L << 20;
  const auto pages_of_array = [] {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    const std::vector<char> array(bytes, 1);
    EXPECT_EQ(array[bytes / 2], 1);
    getrusage(RUSAGE_SELF, &after);
    return after.ru_minflt - before.ru_minflt;
  };
  keep_freed_memory();
  pages_of_array();
  EXPECT_LT(pages_of_array(), 16);  // without: 16384, or 32 where the kernel takes pages of 2 MiB
}

}  // namespace
}  // namespace amasia
