// Executes a list of planned groups, each in a child process, and builds the result file: retries
// after crashes, floors, evidence, journal, progress.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/evidence/evidence.hpp"
#include "harness/plan/plan.hpp"
#include "harness/results/result.hpp"

namespace amasia {

struct SessionOptions {
  int device_index = 0;
  std::string out{};  // result file; "" keeps the result in memory only
  bool resume = false;
  bool in_process = false;  // no child processes: for debuggers and compute-sanitizer
  bool ceilings = true;
  double extra_seconds = 120;  // a group may take this much longer than its effort allows
};

struct SessionOutcome {
  ResultFile file{};
  bool interrupted = false;
  int skipped_groups = 0;  // too large for the device's memory: the reason is in their warnings
};

/// The device and its state, asked of a child. Throws NoDevice with the reason.
class NoDevice : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
Provenance query_in_child(const SessionOptions& options);

/// `provenance` comes filled, device included. Microbenchmarks run before the groups.
SessionOutcome run_session(const std::vector<PlannedGroup>& plan, Provenance provenance,
                           const SessionOptions& options,
                           const std::vector<PlannedMicrobenchmark>& microbenchmarks = {});

/// Runs one group, leaving out whatever row crashes, until the rest finishes.
GroupResult run_isolated(PlannedGroup plan, const SessionOptions& options,
                         const std::function<void(const std::string&)>& on_line, bool& interrupted);

/// The same for a microbenchmark and its points; complete with proofs and findings.
MicrobenchmarkResult run_isolated(PlannedMicrobenchmark plan, const Device& device,
                                  CodeEvidence& evidence, const SessionOptions& options,
                                  const std::function<void(const std::string&)>& on_line,
                                  bool& interrupted);

}  // namespace amasia
