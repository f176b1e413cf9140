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

struct ProfilingOutcome {
  ProfileFile file{};
  bool interrupted = false;
  std::string obstacle{};  // why nothing can be counted here, with what to do; "" if it can
};

/// Adds the groups of `plan` to `file`, which has its provenance and what an earlier run finished.
/// `keep` receives it after each group. Ends at the first obstacle: the next group would meet it,
/// too.
ProfilingOutcome run_profiling(const std::vector<PlannedGroup>& plan, ProfileFile file,
                               const std::string& ncu, const SessionOptions& options,
                               const std::function<void(const ProfileFile&)>& keep);

}  // namespace amasia
