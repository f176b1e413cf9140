#include "harness/process/isolation.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <random>
#include <stdexcept>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

using Clock = std::chrono::steady_clock;

void open_pipe(OpenFile& read_end, OpenFile& write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw std::runtime_error(fmt::format("cannot open a pipe: {}", system_reason()));
  }
  read_end = OpenFile(ends[0]);
  write_end = OpenFile(ends[1]);
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    return fmt::format("the process was killed by signal {} ({})", WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
  }
  return fmt::format("the process ended with status {} and no result", WEXITSTATUS(status));
}

/// Stands before each answer of a child. The code of an app prints to the same stream, and a line
/// of it could look like an answer, but cannot know this.
std::string new_mark() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// What a library printed, shown where it does not mix with data.
void take_chatter(const std::string& line, ChildOutcome& outcome) {
  if (line.empty()) return;
  outcome.printed.emplace(outcome.row, line);
  print_prose("{}\n", line);
}

/// The kernel also sends SIGKILL when memory runs out, whichever process took it.
bool comes_from_outside(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT || signal == SIGHUP;
}

/// Performs the task in `text` and answers to `out`, a line at a time.
int serve(const TaskPerformer& perform, const std::string& text, OpenFile out) {
  const Json task = Json::parse(text, nullptr, false);
  const std::string mark = task.is_object() ? task.value("mark", "") : "";
  // What a library printed may not have ended with its line.
  const auto answer = [&](const Json& j) { out.write("\n" + mark + one_line(j)); };
  // So that it comes while the row that prints it is at work, not when the process ends.
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  int last_row = -2;
  try {
    if (task.is_discarded()) throw UsageError("the task is no JSON");
    const Json result = perform(task, [&](int row, const std::string& line) {
      if (row == last_row && line.empty()) return;
      last_row = row;
      answer(Json{{"row", row}, {"line", line}});
    });
    answer(Json{{"result", result}});
    return 0;
  } catch (const UsageError& error) {
    answer(Json{{"error", error.what()}, {"usage", true}});
  } catch (const std::exception& error) {
    answer(Json{{"error", reason_of(error)}});
  }
  // Skip destructors of a possibly broken CUDA context: they would report the same error again.
  std::cout.flush();
  _exit(1);
}

[[noreturn]] void become_child(int in, int out, const std::vector<std::string>& command) {
  // A group of its own: Ctrl-C reaches the parent only, which then ends this process. If the parent
  // is killed outright, the kernel ends this process too.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(argv.front(), argv.data());
  _exit(127);
}

}  // namespace

void take_line(const std::string& line, ChildOutcome& outcome, const LineSink& on_line) {
  const Json j = Json::parse(line, nullptr, false);
  const auto has = [&j](const char* name, bool (Json::*type)() const noexcept) {
    return j.contains(name) && (j[name].*type)();
  };
  if (j.contains("result")) {
    outcome.finished = true;
    outcome.result = j["result"];
  } else if (has("error", &Json::is_string)) {
    outcome.failure = j["error"].get<std::string>();
    outcome.usage_error = has("usage", &Json::is_boolean) && j["usage"].get<bool>();
  } else if (has("row", &Json::is_number_integer) && has("line", &Json::is_string)) {
    outcome.row = j["row"].get<int>();
    if (const auto text = j["line"].get<std::string>(); !text.empty()) on_line(text);
  } else if (!line.empty()) {  // no message of this program
    outcome.printed.emplace(outcome.row, line);
    on_line(line);
  }
}

Ended run_program(const std::vector<std::string>& command, const std::string& input, double seconds,
                  const std::function<bool(const std::string&)>& on_line) {
  OpenFile input_read, input_write, output_read, output_write;
  open_pipe(input_read, input_write);
  open_pipe(output_read, output_write);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("cannot fork: {}", system_reason()));
  if (child == 0) become_child(input_read.get(), output_write.get(), command);
  // As the child does for itself: whichever comes first, the group is there before it is ended.
  setpgid(child, child);
  input_read.close();
  output_write.close();
  input_write.write(input);  // a dead child shows below
  input_write.close();

  Ended ended;
  std::string pending;
  const std::chrono::duration<double> patience(seconds);
  auto deadline = Clock::now() + patience;
  for (;;) {
    if (interrupted()) {
      ended.interrupted = true;
      break;
    }
    if (Clock::now() >= deadline) {
      ended.timed_out = true;
      break;
    }
    pollfd waiting{output_read.get(), POLLIN, 0};
    const int ready = poll(&waiting, 1, 100);
    if (ready <= 0) continue;
    char buffer[65536];
    const ssize_t n = ::read(output_read.get(), buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    pending.append(buffer, static_cast<std::size_t>(n));
    std::size_t end;
    while ((end = pending.find('\n')) != std::string::npos) {
      if (on_line(pending.substr(0, end))) deadline = Clock::now() + patience;
      pending.erase(0, end + 1);
    }
  }
  if (ended.timed_out || ended.interrupted) kill(-child, SIGKILL);
  while (waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
  }
  return ended;
}

void conclude(ChildOutcome& outcome, const Ended& ended, double seconds) {
  outcome.interrupted = ended.interrupted;
  outcome.timed_out = ended.timed_out;
  if (outcome.interrupted) {
    outcome.finished = false;
    outcome.failure = "interrupted";
  } else if (outcome.timed_out) {
    outcome.finished = false;
    outcome.failure = fmt::format("no step further within {:g} s (hang)", seconds);
  } else if (!outcome.finished && outcome.failure.empty()) {
    outcome.failure = describe_end(ended.status);
    outcome.killed = WIFSIGNALED(ended.status) && comes_from_outside(WTERMSIG(ended.status));
  }
}

ChildOutcome run_in_child(const Json& task, double seconds, const LineSink& on_line) {
  ChildOutcome outcome;
  const std::string mark = new_mark();
  Json marked = task;
  marked["mark"] = mark;
  const auto take = [&](const std::string& line) {
    if (!line.starts_with(mark)) {
      take_chatter(line, outcome);
      return false;
    }
    take_line(line.substr(mark.size()), outcome, on_line);
    return true;
  };
  const Ended ended = run_program({executable_path(), child_flag}, one_line(marked), seconds, take);
  conclude(outcome, ended, seconds);
  return outcome;
}

ChildOutcome run_in_process(const Json& task, const TaskPerformer& perform,
                            const LineSink& on_line) {
  ChildOutcome outcome;
  try {
    outcome.result = perform(task, [&](int row, const std::string& line) {
      outcome.row = row;
      if (!line.empty()) on_line(line);
    });
    outcome.finished = true;
  } catch (const UsageError&) {
    throw;
  } catch (const std::exception& error) {
    outcome.failure = reason_of(error);
  }
  return outcome;
}

std::string one_line(const Json& json) { return compact(json) + '\n'; }

int serve_child(const TaskPerformer& perform) {
  const std::string text((std::istreambuf_iterator<char>(std::cin)),
                         std::istreambuf_iterator<char>());
  return serve(perform, text, OpenFile(::dup(STDOUT_FILENO)));
}

int serve_child(const TaskPerformer& perform, const std::string& task_path,
                const std::string& answer_path) {
  const std::string text = bytes_of_file(task_path);
  // Emptied: a profiler starts the program several times, and the last answer counts.
  OpenFile answer(answer_path, O_WRONLY | O_CREAT | O_TRUNC);
  if (text.empty() || !answer.is_open()) return 1;
  return serve(perform, text, std::move(answer));
}

}  // namespace amasia
