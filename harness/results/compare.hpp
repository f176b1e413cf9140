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
  RatioInterval speedup{};                // time in A / time in B
  Change verdict = Change::not_resolved;  // of B against A
  /// The interval knows what differs between runs; else it is of one run on each side, and a plain
  /// re-run may lie outside.
  bool between_runs = false;
};

struct FileComparison {
  std::vector<FileComparisonRow> rows{};
  std::vector<std::string> only_in_a{}, only_in_b{};  // cases with a valid time in one file only
  std::vector<std::string> warnings{};  // GPUs, drivers, builds, sources, seeds differ
};

/// Compares the medians of the samples that were not throttled, or of all where all were. Where the
/// sessions of `a`, `b` and `more` tell how far rows of the app move between runs, and between GPUs
/// if the two are of different ones, a difference is held against that (statistics/between.hpp);
/// else the samples of the two runs count as independent. Rows of the same code, on machines and of
/// builds that agree, tell it, too, less what all rows of their app differ by
/// (Sessions::learn_levelled). Of all rows that are called faster or slower a share of 1 -
/// `confidence` at most is so wrongly, on average; the intervals go with that
/// (statistics/false_discovery.hpp).
FileComparison compare_files(const ResultFile& a, const ResultFile& b, double confidence,
                             const std::vector<const ResultFile*>& more = {});

/// The one table that the other forms render.
Table to_table(const FileComparison&);
std::string to_markdown(const FileComparison&);
std::string to_csv(const FileComparison&);
nlohmann::ordered_json to_json(const FileComparison&);

}  // namespace amasia
