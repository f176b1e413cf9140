// The recorded winners of `amasia tune`, and how `run` picks a config for `best` from them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/device.hpp"
#include "harness/parameters.hpp"
#include "harness/results/result.hpp"
#include "harness/variant.hpp"
#include "harness/words.hpp"

namespace amasia {

/// One candidate of one search: times are absent when it did not run, `reason` says why.
struct TuningCandidate {
  std::string config;
  RowStatus status = RowStatus::ok;
  std::string reason{};
  std::optional<double> median_ms{}, low_ms{}, high_ms{};
  std::optional<int> n{};  // samples
};

/// What a search is of.
struct TunedCase {
  std::string device{};  // as the driver names it
  std::string variant{};
  Parameters size{};
  CacheMode cache = CacheMode::cold;
  LaunchMode launch = LaunchMode::stream;
  std::string source_digest{};  // of the variant's code
};

struct TuningEntry : TunedCase {
  std::string config{};  // the winner: the least median
  /// Configs whose times in the same rounds are not distinguishable from the winner's, in the order
  /// they were tried. Any of them could have been the winner.
  std::vector<std::string> equal{};
  std::string date_utc{};
  std::vector<TuningCandidate> table{};
  std::string lent_by{};  // another GPU that it was tuned on; not in the file
};

/// A GPU model that has winners in a file: enough to find the one nearest to another model.
struct TunedDevice {
  std::string name;  // as the driver names it
  int compute_capability = 0;
  int sm_count = 0;
};

struct TuningChoice {
  std::string config;
  std::string source;  // "tuned at rows=...", "tuned at the nearest size ..."
};

/// The best config known of a schedule.
struct ScheduleWinner {
  std::string schedule;
  std::string config;
  std::string source;  // as in TuningChoice
  double ms = 0;       // its median in the search
};

class TuningTable {
 public:
  /// Empty when `path` does not exist. Throws ResultError for a malformed file.
  static TuningTable read(const std::string& path);
  void write(const std::string& path) const;
  /// Replaces the entry of the same device, variant, size, cache and launch.
  void record(TuningEntry entry);
  void record(const Device& device);
  /// What another file has.
  void add(const TuningTable& other);
  /// For variants without a winner of `device` and of the code as it is: the winners of the GPU
  /// model in `other` that has its compute capability and is nearest in its number of SMs.
  void fill_in(const TuningTable& other, const Device& device);
  /// Whether this very size has a winner, found with the variant's code as it is.
  bool has(const TunedCase& wanted) const;
  /// The winner at this size, else at the nearest size tuned (in the logarithm of its parameters),
  /// preferring the same cache and launch mode; nothing for a variant never tuned there, or since
  /// changed.
  std::optional<TuningChoice> choose(const TunedCase& wanted) const;
  /// From the table of the same entry: for each schedule of the variant the fastest of the configs
  /// that ran.
  std::vector<ScheduleWinner> choose_by_schedule(const TunedCase& wanted,
                                                 const Variant& variant) const;
  const std::vector<TuningEntry>& entries() const { return entries_; }

 private:
  /// nullptr when the variant was never tuned on the device or its code has changed since.
  const TuningEntry* nearest(const TunedCase& wanted) const;
  std::vector<TuningEntry> entries_;
  std::vector<TunedDevice> devices_;
};

/// Adds winners of a GPU to the file as it is now: another search may have added its own meanwhile.
/// Throws ResultError for a file that is malformed or cannot be written.
void add_winners(const std::string& path, const Device& device,
                 const std::vector<TuningEntry>& entries);

/// results/<gpu>/tuning.json
std::string default_tuning_path(const Device& device);

/// The winners in results/: those of this GPU model, and for variants that have none, those of the
/// nearest model (TuningTable::fill_in). Throws ResultError for a malformed file.
TuningTable winners_in_results(const Device& device);

/// The winner of a variant in a finished search, what is equal to it within noise, and all
/// candidates. A config with reference_only is never chosen. No config when nothing ran.
/// `confidence` holds for all pairs of configs jointly.
TuningEntry tuning_entry(const GroupResult& search, const Variant& variant,
                         const std::string& device, double confidence = 0.95);

}  // namespace amasia
