// Runs a task of this program under NVIDIA's Nsight Compute (the program ncu), which counts what
// the hardware does between the marks that the task sets.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/process/isolation.hpp"
#include "harness/process/ncu_output.hpp"

namespace amasia {

/// Path of ncu: $NCU, on PATH, in the toolkit, or of Nsight Compute's own installation. "" when
/// there is none.
std::string find_ncu();

/// Nsight Compute's version, "2025.3.1.0"; "unknown" where it does not say.
std::string ncu_version(const std::string& ncu);

/// Why nobody counts anything here, and what to do about it, in one line; "" when that is not it.
std::string why_forbidden(const NcuOutput& output);

struct ProfiledTask {
  ChildOutcome outcome{};
  NcuOutput counted{};    // of a table that is damaged nothing, and the damage among the errors
  std::string printed{};  // what `counted` was read from
  bool answered = false;  // the program was started and said something
};

/// Performs `task` under `ncu` with these metrics. The task is performed several times, since the
/// hardware counts only some metrics at a time; the last answer is the outcome. Clocks and caches
/// are left alone: the task brings the caches into their state, as it does when it is timed.
ProfiledTask run_in_profiler(const std::string& ncu, const nlohmann::ordered_json& task,
                             const std::vector<std::string>& metrics, double seconds,
                             const std::function<void(const std::string&)>& on_line);

}  // namespace amasia
