// Executes a list of planned groups, each in a child process, and builds the result file: retries
// after crashes, floors, evidence, journal, progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/app.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/plan/plan.hpp"
#include "harness/process/isolation.hpp"
#include "harness/results/result.hpp"
#include "harness/session/validity.hpp"
#include "harness/user_kernel/description.hpp"
#include "harness/user_kernel/user_app.hpp"

namespace amasia {

struct SessionOptions {
  int device_index = 0;
  std::string out{};                     // result file; "" keeps the result in memory only
  Existing existing = Existing::refuse;  // what to do with what an earlier run left at `out`
  bool in_process = false;               // no child processes: for debuggers and compute-sanitizer
  bool ceilings = true;
  /// Folder of earlier results of this GPU model, to hold ceilings against; "" for
  /// results/<gpu>, "none" for none.
  std::string records{};
  /// What a child may take for a step: an input, a preparation, a verification, a sample. A
  /// profiler tells of no steps, so that with one it is for a group.
  double step_seconds = 120;
};

struct SessionOutcome {
  ResultFile file{};
  bool interrupted = false;
  std::string device_lost{};  // why the device answers no more; "" as long as it does
};

class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
/// The device and its state, asked of a child. Throws NoDevice with the reason, and Interrupted.
Provenance query_in_child(const SessionOptions& options);

/// `provenance` comes filled, device included. Microbenchmarks run before the groups.
SessionOutcome run_session(const std::vector<PlannedGroup>& plan, Provenance provenance,
                           const SessionOptions& options,
                           const std::vector<PlannedMicrobenchmark>& microbenchmarks = {});

/// Checks a CPU reference against the second one, in a child that may take step_seconds. Where it
/// comes to no verdict, that is a failed one with the reason as its first mismatch. Throws
/// Interrupted.
Verdict check_reference(const std::string& app, const Parameters& size, std::uint64_t seed,
                        const SessionOptions& options);

/// Loads each shared library once, in a child, because its constructors may crash or hang, and says
/// in `broken` of its implementation what is wrong. `app`: the description, loaded. Throws
/// Interrupted.
void load_libraries(const Description& description, UserApp& app, const SessionOptions& options);

/// Runs one group, leaving out whatever row crashes, until the rest finishes. With its summaries. A
/// child that is killed from outside is started again before a row is blamed.
GroupResult run_isolated(PlannedGroup plan, const SessionOptions& options, const LineSink& on_line,
                         bool& interrupted);

/// Performs a task, within so many seconds.
using TaskRunner = std::function<ChildOutcome(const Json& task, double seconds)>;

/// The same with `run` in place of a child of its own.
GroupResult run_isolated(PlannedGroup plan, const SessionOptions& options, const TaskRunner& run,
                         const LineSink& on_line, bool& interrupted);

/// The same, and judges it: a group that is invalid is measured once more. `complete` adds floors.
/// Adds to what is known to be quiet.
GroupResult run_judged(const PlannedGroup& plan, const SessionOptions& options,
                       const std::function<void(GroupResult&)>& complete, Circumstances& around,
                       const LineSink& on_line, bool& interrupted);

/// The same for a microbenchmark and its points.
MicrobenchmarkResult run_isolated(PlannedMicrobenchmark plan, const Device& device,
                                  const SessionOptions& options, const LineSink& on_line,
                                  bool& interrupted);

/// Tasks: {"task": "device", "index": i}            -> Provenance with device and device_state
///        {"task": "ceilings", "index": i, "samples": n} -> array of Ceiling
///        {"task": "microbenchmark", "index": i, "plan": PlannedMicrobenchmark}
///                                                       -> MicrobenchmarkResult
///        {"task": "reference", "app": name, "size": {name: value}, "seed": n}
///                                                       -> a verdict; needs no device
///        {"task": "group", "index": i, "plan": PlannedGroup} -> GroupResult; with
///            "user_kernel": {"description": path, "digest": d} of an app loaded at run time
///        {"task": "library", "description": path, "implementation": i}
///                                                       -> {"objection": text}; needs no device
/// Throws what the work throws.
Json perform_task(const Json& task, const ProgressSink& progress);

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// What a person sees while waiting: case i of n, the current estimate, the time left. On stderr; a
// terminal gets one line that rewrites itself, a log gets one line per case.

class Progress {
 public:
  /// `expected_seconds`: of all cases together, before anything was measured.
  Progress(int cases, double expected_seconds);
  void begin(const std::string& name, double expected_seconds);
  void note(const std::string& line);
  void end(const std::string& line);

 private:
  std::string eta() const;
  void rewrite(const std::string& line);

  int cases_;
  int current_ = 0;
  double expected_left_;
  double expected_current_ = 0;
  double expected_done_ = 0;
  double spent_ = 0;
  bool terminal_;
  Stopwatch watch_{};  // of the case
  std::string name_;
};

}  // namespace amasia
