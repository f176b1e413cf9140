// What the program ncu of NVIDIA's Nsight Compute prints with --csv.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace amasia {

/// What was counted between one pair of marks, or of one kernel: metric -> value in base units
/// (bytes, nanoseconds, percent, counts).
struct CountedResult {
  std::string name;  // of the kernel, or "range"
  std::map<std::string, double> metrics{};
};

/// What ncu printed.
struct NcuOutput {
  std::vector<CountedResult> results{};  // in the order in which they were counted
  std::vector<std::string> errors{};     // its own, without the "==ERROR==" before them
};

/// Reads what ncu prints with --csv, its raw page (a column for each metric, a line of units) as
/// well as its details page (a line for each metric). `name` says where the text is from. Metrics
/// that could not be counted ("n/a") are absent. Throws ResultError for a table that is damaged.
NcuOutput parse_ncu_output(std::string_view text, const std::string& name);

/// A value and its unit as ncu prints them, in base units: ("1,234.5", "Kbyte") -> 1234500. Nothing
/// for what is no number. Throws ResultError for "2,68": ncu did not run with LC_ALL=C.
std::optional<double> ncu_value(std::string_view text, std::string_view unit);

}  // namespace amasia
