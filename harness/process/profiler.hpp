// Runs a task of this program under NVIDIA's Nsight Compute (the program ncu), which counts what
// the hardware does between the marks that the task sets.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/process/isolation.hpp"

namespace amasia {

/// What ncu counted between one pair of marks: metric -> value.
using CountedResult = std::map<std::string, double>;

struct NcuOutput {
  std::vector<CountedResult> results{};  // in the order in which they were counted
  std::vector<std::string> errors{};     // its own, without the "==ERROR==" before them
};

/// Reads the raw page that ncu prints with --csv: a column for each metric, a line of units, which
/// are base units, then a line for each result. `name` says where the text is from. Metrics that
/// could not be counted ("n/a") are absent. Throws ResultError for a table that is damaged.
NcuOutput parse_ncu_output(std::string_view text, const std::string& name);

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
  bool answered = false;  // the program was started and said something
};

/// Performs `task` under `ncu`, several times, because the hardware counts only some metrics at a
/// time; the last answer is the outcome. Clocks and caches are left alone.
ProfiledTask run_in_profiler(const std::string& ncu, const Json& task,
                             const std::vector<std::string>& metrics, double seconds,
                             const LineSink& on_line);

}  // namespace amasia
