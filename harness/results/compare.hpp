// Two result files against each other.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

/// One case timed in both files: the same variant, role, size, cache and launch mode.
struct FileComparisonRow {
  std::string variant;
  Role role = Role::iso;
  GroupKey key;
  std::string a_config, b_config;  // `best` may be another config in each
  double a_ms = 0, b_ms = 0;
  RatioInterval speedup{};                            // time in A / time in B
  SpeedVerdict verdict = SpeedVerdict::not_resolved;  // of B against A
};

struct FileComparison {
  std::vector<FileComparisonRow> rows{};
  std::vector<std::string> only_in_a{}, only_in_b{};  // cases with a valid time in one file only
  std::vector<std::string> warnings{};  // GPUs, drivers, builds, sources, seeds differ
};

/// Compares the medians of the samples that were not throttled, or of all where all were. The runs
/// were not interleaved, so the samples count as independent; `confidence` holds for all rows
/// jointly.
FileComparison compare_files(const ResultFile& a, const ResultFile& b, double confidence);

/// The one table that the other forms render.
Table to_table(const FileComparison&);
std::string to_markdown(const FileComparison&);
std::string to_csv(const FileComparison&);
nlohmann::ordered_json to_json(const FileComparison&);

}  // namespace amasia
