// What the hardware counted while variants ran under Nsight Compute, in a file of its own. Nothing
// in it is a time to compare. Python joins it to the rows of results (plots/data/profiles.py).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/results/result.hpp"

namespace amasia {

inline constexpr int profile_schema_version = 2;
inline constexpr std::string_view profile_schema_name = "amasia-profile";

/// Of one run of a row, first launch to last. What the profiler or the GPU does not count is
/// absent. Which metric each is, and what it means: profile_fields.hpp.
struct Counters {
  std::optional<double> time_ms{};
  std::optional<double> cycles{};
  std::optional<double> sm_busy{};
  std::optional<double> busiest_cycles{};
  std::optional<double> instructions{};
  std::optional<double> issue_slots{};
  std::optional<double> occupancy{};
  std::optional<double> dram_read_bytes{};
  std::optional<double> dram_write_bytes{};
  std::optional<double> dram_use{};
  std::optional<double> l2_bytes{};
  std::optional<double> l2_hit_share{};
  std::optional<double> l2_use{};
  std::optional<double> sm_read_bytes{};
  std::optional<double> dsm_read_bytes{};
  std::optional<double> lsu_instructions{};
  std::optional<double> shared_passes{};
  std::optional<double> shared_conflicts{};
  std::optional<double> fma_use{};
  std::optional<double> alu_use{};
  std::optional<double> lsu_use{};
  std::optional<double> tensor_use{};
  std::optional<double> tma_use{};
  /// Reason -> share of the time of the resident warps; "selected" is the share in which they
  /// issue.
  std::map<std::string, double> stalls{};
};

struct ProfiledRow {
  std::string variant{};
  Role role = Role::iso;
  std::string config{};
  std::string schedule{};
  RowStatus status = RowStatus::ok;
  std::string reason{};  // why not ok, or why nothing was counted
  std::string source_digest{};
  std::optional<Counters> counters{};
};

struct ProfiledGroup {
  GroupKey key{};
  std::optional<Preset> preset{};
  std::uint64_t seed = 0;
  std::vector<ProfiledRow> rows{};
  std::vector<std::string> warnings{};
};

struct ProfileFile {
  Provenance provenance{};
  std::string profiler{};  // "Nsight Compute 2025.3.1.0"
  std::vector<ProfiledGroup> groups{};
};

/// From what was counted, by the names that the profiler has for it.
Counters counters_of(const std::map<std::string, double>& metrics);
/// All metrics that counters_of() asks for.
std::vector<std::string> counted_metrics();
/// Name, metric and meaning of each counter, as Markdown.
std::string table_of_counters();

// As for result files (result.hpp).
std::string to_text(const ProfileFile&);
ProfileFile profile_from_text(const std::string& text, const std::string& path);
ProfileFile read_profile_file(const std::string& path);
void write_profile_file(const std::string& path, const ProfileFile&);

}  // namespace amasia
