// Runs a task of this program in a child process, so that an illegal address, a hang or a kill
// costs one attempt at one group and nothing else. A task is one JSON object that the parent sends,
// and one that comes back.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/text/file.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {

/// Called before each step that could take the process down, with the row at work (-1: none), and
/// with a line for the person who waits.
using ProgressSink = std::function<void(int row, const std::string& line)>;

/// Receives lines for the person who waits, and what libraries print.
using LineSink = std::function<void(const std::string& line)>;

/// Does what a task asks for. Throws what the work throws.
using TaskPerformer = std::function<Json(const Json& task, const ProgressSink& progress)>;

struct ChildOutcome {
  bool finished = false;  // the task returned a result
  Json result{};
  std::string failure{};     // a sentence, when not finished
  bool usage_error = false;  // the child says that the request cannot be served at all
  bool killed = false;       // from outside, by a signal that no fault of its own raises
  bool timed_out = false;    // it was still at work, and took too long for a step
  int row = -1;              // the row at work when it ended
  bool interrupted = false;  // this process was asked to stop (SIGINT, SIGTERM)
  /// Of each row that was at work when something printed to stdout: what it printed first.
  std::map<int, std::string> printed{};
};

/// Sends `task` to a child of this executable, which may take `seconds` for each step. `on_line`
/// receives its progress. What a library prints goes to stderr: answers bear a mark that it cannot
/// know.
ChildOutcome run_in_child(const Json& task, double seconds, const LineSink& on_line);

/// The same in this process, for debuggers and compute-sanitizer: no time limit, no protection.
ChildOutcome run_in_process(const Json& task, const TaskPerformer& perform,
                            const LineSink& on_line);

/// The child's side: reads the task from stdin, answers on stdout, returns the exit status.
int serve_child(const TaskPerformer& perform);
/// The same with files instead, for a child that another program starts, maybe several times.
int serve_child(const TaskPerformer& perform, const std::string& task_path,
                const std::string& answer_path);

/// How a program ended.
struct Ended {
  int status = 0;  // as of waitpid(2)
  bool timed_out = false, interrupted = false;
};
/// Runs a program by its path, `input` on its stdin, for at most `seconds`, which begin anew where
/// `on_line`, given a line of its stdout, says so.
Ended run_program(const std::vector<std::string>& command, const std::string& input, double seconds,
                  const std::function<bool(const std::string&)>& on_line);
/// What became of the task, where the lines of the answer do not say it.
void conclude(ChildOutcome& outcome, const Ended& ended, double seconds);
/// A line of the protocol; text that is not UTF-8 (a message of the system) must not break it.
std::string one_line(const Json& json);

/// Folds one line of a child's answer into the outcome. Any other text goes to `on_line`.
void take_line(const std::string& line, ChildOutcome& outcome, const LineSink& on_line);

/// The option by which the parent starts its child; for one with files, two names follow.
inline constexpr const char* child_flag = "--child-task";

}  // namespace amasia
