// Counts what the hardware does while planned groups run, each group in a child process under the
// profiler.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/plan/plan.hpp"
#include "harness/results/profile.hpp"
#include "harness/session/session.hpp"

namespace amasia {

/// The profiler to use, and a folder for what it prints, a file for each group; "" for none.
struct ProfilerUse {
  std::string ncu{};
  std::string raw_folder{};
};

struct ProfilingOutcome {
  ProfileFile file{};
  bool interrupted = false;
  std::string obstacle{};  // why nothing can be counted here, with what to do; "" if it can
};

/// Adds the groups of `plan` to `file`, which has its provenance and what an earlier run finished.
/// `keep` receives it after each group. Ends at the first obstacle: the next group would meet it,
/// too.
ProfilingOutcome run_profiling(const std::vector<PlannedGroup>& plan, ProfileFile file,
                               const ProfilerUse& profiler, const SessionOptions& options,
                               const std::function<void(const ProfileFile&)>& keep);

}  // namespace amasia
