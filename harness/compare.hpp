// Two result files against each other, and several shards into one.
#pragma once

#include <string>
#include <vector>

#include "harness/result.hpp"

namespace amasia {

struct FileComparisonRow {
  std::string variant, role;
  GroupKey key;
  double a_ms = 0, b_ms = 0;
  RatioInterval speedup{};   // time in A / time in B
  std::string verdict;       // "faster", "slower", "not resolved": of B against A
};

struct FileComparison {
  std::vector<FileComparisonRow> rows{};
  std::vector<std::string> only_in_a{}, only_in_b{};
  std::vector<std::string> warnings{};
};

FileComparison compare_files(const ResultFile& a, const ResultFile& b, double confidence);
std::string to_markdown(const FileComparison&);
std::string to_csv(const FileComparison&);
nlohmann::ordered_json to_json(const FileComparison&);

/// Joins result files of the same settings, device type and sources. `names` are for messages.
/// Throws ResultError naming the two files when the same group is in both, or they do not fit.
ResultFile merge_files(const std::vector<ResultFile>& files, const std::vector<std::string>& names);

/// The part of 0..count-1 that shard `i` of `n` (1-based) runs: disjoint, complete, stable.
std::vector<std::size_t> shard_members(std::size_t count, int i, int n);

}  // namespace amasia
