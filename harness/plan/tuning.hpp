// The recorded winners of `amasia tune`, and how `run` picks a config for `best` from them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/parameters.hpp"
#include "harness/statistics/statistics.hpp"

namespace amasia {

/// One candidate of one search: time is absent when it did not run, `reason` says why.
struct TuningCandidate {
  std::string config;
  std::string status;  // "ok", "failed", "skipped", "crashed"
  std::string reason{};
  std::optional<MedianInterval> time_ms{};
};

struct TuningEntry {
  std::string device;  // as the driver names it
  std::string variant;
  Parameters size;
  std::string cache, launch;
  std::string config;         // the winner
  std::string source_digest;  // of the variant when it was tuned
  std::string date_utc;
  std::vector<TuningCandidate> table{};
};

struct TuningChoice {
  std::string config;
  std::string source;  // "tuned at rows=...", "tuned at the nearest size ..."
};

class TuningTable {
 public:
  /// Empty when `path` does not exist. Throws ResultError for a malformed file.
  static TuningTable read(const std::string& path);
  void write(const std::string& path) const;
  /// Replaces the entry of the same device, variant, size, cache and launch.
  void record(TuningEntry entry);
  /// The winner for this variant on this device at this size, else at the nearest size tuned (in
  /// the logarithm of its integer parameters), preferring the same cache and launch mode; nothing
  /// when the variant was never tuned there or its code has changed since (`digest` differs).
  std::optional<TuningChoice> choose(const std::string& device, const std::string& variant,
                                     const Parameters& size, const std::string& cache,
                                     const std::string& launch, const std::string& digest) const;
  const std::vector<TuningEntry>& entries() const { return entries_; }

 private:
  std::vector<TuningEntry> entries_;
};

}  // namespace amasia
