// From what was asked for to what is going to run: groups of rows and microbenchmarks, in order.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/microbenchmark.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/selection.hpp"
#include "harness/plan/tuning.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// One row for each table, figure and claim of the four source documents, with what of this suite
/// answers it: inputs/published/inventory.csv.
struct InventoryRow {
  std::string id;      // "000-04"
  std::string source;  // "Luo et al. 2024"
  std::string where;   // "Table IV"
  std::string what;
  std::string study;              // "seed000-table4"
  std::vector<std::string> by{};  // "memory/latency", "app hotspot", "ceilings"
  /// What the row takes of microbenchmarks: these points, or all where there are none. Empty: all
  /// of those that answer it.
  std::map<std::string, std::vector<Coordinates>> points{};
  std::string method;  // "same", "other: why", "nothing"
  std::string remark;
};
const std::vector<InventoryRow>& inventory();

/// Rows that a name means: a document ("seed000"), a study ("seed000-table4") or an id ("000-04");
/// empty when it means none.
std::vector<InventoryRow> inventory_rows(const std::string& name);
/// Every such name, for suggestions.
std::vector<std::string> inventory_names();

/// Whether what answers the row is part of this program.
bool is_built(const InventoryRow& row);

struct CampaignRequest {
  std::vector<std::string> patterns{};
  SizeRequest sizes{};
  std::vector<CacheMode> caches{CacheMode::cold};
  std::vector<LaunchMode> launches{LaunchMode::stream};
  std::vector<Role> roles{Role::iso, Role::best, Role::matched};
  Effort effort{};
  double point_seconds = 0.4;  // cap on the samples of one point of a microbenchmark
  std::uint64_t seed = 20211;
  std::optional<Shard> shard{};
  std::string study{};                    // "" for a run
  std::vector<InventoryRow> inventory{};  // of a study of a document: what it is to reproduce
  /// Points of a microbenchmark to measure; all of one that is not named.
  std::map<std::string, std::vector<Coordinates>> only{};
  /// Each "name=value,...": traits to measure in the microbenchmarks that take any.
  std::vector<std::string> traits{};
};

/// An app, the variants meant and the sizes to run them at.
struct AppCases {
  const App* app = nullptr;
  std::vector<const Variant*> variants{};
  std::vector<Parameters> sizes{};
};

/// What is known of a campaign before a device is asked.
struct Cases {
  std::vector<AppCases> apps{};
  std::vector<const Microbenchmark*> microbenchmarks{};
};

struct Campaign {
  std::vector<PlannedGroup> groups{};
  std::vector<PlannedMicrobenchmark> microbenchmarks{};
  bool ceilings = false;  // whether the limits of the GPU are measured first
};

/// Throws UsageError for patterns and sizes that cannot be used.
Cases cases_of(const CampaignRequest& request);
/// Apps only: what `tune` and `verify` work on.
std::vector<AppCases> app_cases_of(const CampaignRequest& request);

/// A size the user asked for must fit in device memory (UsageError); one of a preset is skipped
/// with the reason later.
void refuse_too_large(const std::vector<AppCases>& cases, const CampaignRequest& request,
                      const Device& device);

/// Every case under every cache and launch mode, or the shard's part. `device`: the name by which
/// winners are recorded; "" for none. Energy is measured in one group of each size: the hottest, in
/// the last launch mode.
Campaign plan_campaign(const CampaignRequest& request, const Cases& cases,
                       const TuningTable& tuning, const std::string& device);

/// Every config of every variant, timed: what `tune` chooses from.
std::vector<PlannedGroup> plan_search(const CampaignRequest& request,
                                      const std::vector<AppCases>& cases);

/// The rows of a comparison without those that repeat another, to be counted by a profiler.
std::vector<PlannedGroup> plan_counting(const CampaignRequest& request,
                                        const std::vector<AppCases>& cases,
                                        const TuningTable& tuning, const std::string& device);

/// Every config of every variant, run once against the reference.
std::vector<PlannedGroup> plan_verification(const CampaignRequest& request,
                                            const std::vector<AppCases>& cases);

/// Rough time of measuring the ceilings, for estimates before anything was measured.
inline constexpr double expected_ceiling_seconds = 10;

/// Device memory of one instance at the group's size, all variants' scratch included.
std::int64_t device_bytes(const PlannedGroup& group);

/// All of the campaign on this device, groups that do not fit left out. Without a device the time
/// of the groups and ceilings; the points of microbenchmarks are not known then.
double expected_seconds(const Campaign& campaign, const std::optional<Device>& device);

// What a result file holds, planned to be measured again: the same cases, rows and configs, with
// the same effort.

/// Something of the file that this program cannot measure.
struct NotPossible {
  std::string what;  // "nw/tma (best) at nw rows=64,cols=64 cold stream"
  std::string reason;
};

struct Again {
  Campaign campaign{};
  std::vector<NotPossible> not_possible{};
};

/// Every row that has a time (of the shown session of its case) and every microbenchmark that has a
/// value, without energy. What this program cannot measure is named with the reason.
Again plan_again(const ResultFile& file, const std::vector<std::string>& only = {});

/// Whether a case ("nw rows=64 cold stream") or a microbenchmark is among those asked for: the
/// whole name matches one of the globs, or there are none.
bool is_asked(const std::vector<std::string>& only, std::string_view name);

}  // namespace amasia
