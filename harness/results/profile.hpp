// What the hardware counted while variants ran under Nsight Compute, in a file of its own. Nothing
// in it is a time to compare. Python joins it to the rows of results (plots/data/profiles.py).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/results/fields.hpp"
#include "harness/results/result.hpp"

namespace amasia {

inline constexpr int profile_schema_version = 2;
inline constexpr std::string_view profile_schema_name = "amasia-profile";

/// Of one run of a row, first launch to last. What the profiler or the GPU does not count is
/// absent. Which metric each is, and what it means: its Fields, below.
struct Counters {
  std::optional<double> time_ms{}, cycles{}, sm_busy{}, busiest_cycles{};
  std::optional<double> instructions{}, issue_slots{}, occupancy{};
  std::optional<double> dram_read_bytes{}, dram_write_bytes{}, dram_use{};
  std::optional<double> l2_bytes{}, l2_hit_share{}, l2_use{};
  std::optional<double> sm_read_bytes{}, dsm_read_bytes{};
  std::optional<double> lsu_instructions{}, shared_passes{}, shared_conflicts{};
  std::optional<double> fma_use{}, alu_use{}, lsu_use{}, tensor_use{}, tma_use{};
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

std::string to_text(const ProfileFile&);
ProfileFile profile_from_text(const std::string& text, const std::string& path);
ProfileFile read_profile_file(const std::string& path);
void write_profile_file(const std::string& path, const ProfileFile&);

// Every field of a profile, in the order in which it is written. A new counter is a member of
// Counters (profile.hpp) and a line here; then `amasia schema > schema/result.schema.json`.

/// A counter: a field that comes from a metric of the profiler. Generations of GPUs call the same
/// thing by different names: of `metrics`, separated by a blank, the first that was counted is it.
struct CounterField : Field<Counters, std::optional<double>> {
  std::string_view metrics;
  double factor;  // from the metric's base unit to that of the field
};

inline constexpr double from_percent = 0.01, from_nanoseconds = 1e-6, sector_bytes = 32;

consteval CounterField counter(std::string_view name, std::optional<double> Counters::*member,
                               std::string_view metrics, std::string_view meaning,
                               double factor = 1) {
  return {{name, member, {.meaning = meaning, .optional = true, .least = 0}}, metrics, factor};
}

/// Reasons for which a warp does not issue, as Nsight Compute names them, with what each is. The
/// metric of each is the mean number of warps in that state per cycle in which one issues.
inline constexpr std::string_view stall_metric_begin = "smsp__average_warps_issue_stalled_",
                                  stall_metric_end = "_per_issue_active.ratio";
inline constexpr struct StallReason {
  std::string_view name, meaning;
} stall_reasons[] = {
    {"selected", "none: it issues"},
    {"not_selected", "none: another warp was chosen"},
    {"long_scoreboard", "data from L1, L2 or DRAM"},
    {"short_scoreboard", "data from shared memory, or a slow arithmetic unit"},
    {"barrier", "the other warps of the block at a barrier"},
    {"membar", "a memory fence"},
    {"wait", "a fixed number of cycles after the instruction before"},
    {"math_pipe_throttle", "an arithmetic unit that is busy"},
    {"gmma", "the tensor cores"},
    {"mio_throttle", "the queue of shared memory and special functions"},
    {"lg_throttle", "the queue of loads and stores to global memory"},
    {"tex_throttle", "the queue of the texture unit"},
    {"branch_resolving", "the target of a branch"},
    {"no_instruction", "the instruction itself"},
    {"imc_miss", "a constant"},
    {"drain", "its stores, before it ends"},
    {"dispatch_stall", "the dispatcher"},
    {"sleeping", "the time it asked to sleep"},
    {"misc", "something else"},
};

template <>
struct Fields<Counters> {
  static constexpr std::string_view name = "counters";
  static constexpr auto list = fields(
      counter("time_ms", &Counters::time_ms, "gpu__time_duration.sum",
              "from mark to mark, most of it the profiler's: not a time to compare",
              from_nanoseconds),
      counter("cycles", &Counters::cycles, "sm__cycles_elapsed.max gpc__cycles_elapsed.max",
              "SM clock cycles from mark to mark, those of the profiler included"),
      counter("sm_busy", &Counters::sm_busy, "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
              "share of `cycles` in which an SM holds a warp", from_percent),
      counter("busiest_cycles", &Counters::busiest_cycles, "sm__cycles_active.max",
              "cycles in which the SM that is busy longest holds a warp"),
      counter("instructions", &Counters::instructions, "smsp__inst_executed.sum",
              "instructions that warps executed"),
      counter("issue_slots", &Counters::issue_slots, "smsp__issue_active.avg.per_cycle_active",
              "share of the issue slots of busy SMs that were used"),
      counter("occupancy", &Counters::occupancy,
              "sm__warps_active.avg.pct_of_peak_sustained_active",
              "resident warps of a busy SM, of those that it can hold", from_percent),
      counter("dram_read_bytes", &Counters::dram_read_bytes, "dram__bytes_read.sum",
              "bytes read from DRAM"),
      counter("dram_write_bytes", &Counters::dram_write_bytes, "dram__bytes_write.sum",
              "bytes written to DRAM"),
      counter("dram_use", &Counters::dram_use,
              "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
              "share of DRAM's peak bandwidth, over `cycles`", from_percent),
      counter("l2_bytes", &Counters::l2_bytes, "lts__t_bytes.sum",
              "bytes that L2 was asked to move, from and to SMs and DRAM"),
      counter("l2_hit_share", &Counters::l2_hit_share, "lts__t_sector_hit_rate.pct",
              "share of the sectors asked of L2 that were there", from_percent),
      counter("l2_use", &Counters::l2_use, "lts__throughput.avg.pct_of_peak_sustained_elapsed",
              "share of L2's peak rate, over `cycles`", from_percent),
      counter("sm_read_bytes", &Counters::sm_read_bytes, "l1tex__m_xbar2l1tex_read_sectors.sum",
              "bytes that SMs received, from L2 and from each other", sector_bytes),
      counter("dsm_read_bytes", &Counters::dsm_read_bytes,
              "l1tex__m_xbar2l1tex_read_sectors_mem_dshared.sum",
              "of those, bytes from the shared memory of other SMs", sector_bytes),
      counter("lsu_instructions", &Counters::lsu_instructions,
              "sm__inst_executed_pipe_lsu.sum smsp__inst_executed_pipe_lsu.sum",
              "instructions of the load and store unit: global, shared and local memory"),
      counter("shared_passes", &Counters::shared_passes,
              "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
              "passes of loads and stores through shared memory, 128 bytes wide; bulk copies are "
              "not among them"),
      counter("shared_conflicts", &Counters::shared_conflicts,
              "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
              "of those passes, the ones beyond what the bytes need: conflicts of banks"),
      counter("fma_use", &Counters::fma_use,
              "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active "
              "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
              "share of the time in which the FMA unit works", from_percent),
      counter("alu_use", &Counters::alu_use,
              "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active "
              "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
              "share of the time in which the integer and logic unit works", from_percent),
      counter("lsu_use", &Counters::lsu_use,
              "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
              "share of the peak rate of the load and store unit", from_percent),
      // On sm_90 the last but one also counts what shares a path with the tensor cores.
      counter("tensor_use", &Counters::tensor_use,
              "sm__pipe_tensor_type_hmma_hgmma_qgmma_imma_igmma_bmma_bgmma_cycles_active.avg."
              "pct_of_peak_sustained_active "
              "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active "
              "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
              "share of the time in which the tensor cores work", from_percent),
      counter("tma_use", &Counters::tma_use,
              "sm__pipe_tma_cycles_active.avg.pct_of_peak_sustained_active",
              "share of the time in which the TMA unit takes copies", from_percent),
      field("stalls", &Counters::stalls,
            {.meaning = "reason -> share of the time of the resident warps", .least = 0}));
};

template <>
struct Fields<ProfiledRow> {
  static constexpr std::string_view name = "profiled_row";
  static constexpr auto list =
      fields(field("variant", &ProfiledRow::variant, {.pattern = two_names}),
             field("role", &ProfiledRow::role), field("config", &ProfiledRow::config),
             field("schedule", &ProfiledRow::schedule), field("status", &ProfiledRow::status),
             field("reason", &ProfiledRow::reason, {.meaning = "why nothing was counted"}),
             field("source_digest", &ProfiledRow::source_digest),
             field("counters", &ProfiledRow::counters, {.optional = true}));
};

template <>
struct Fields<ProfiledGroup> {
  static constexpr std::string_view name = "profiled_group";
  static constexpr auto list =
      fields(field("key", &ProfiledGroup::key), field("preset", &ProfiledGroup::preset),
             field("seed", &ProfiledGroup::seed), field("rows", &ProfiledGroup::rows),
             field("warnings", &ProfiledGroup::warnings));
};

/// Behind "schema", "version" and "digest".
template <>
struct Fields<ProfileFile> {
  static constexpr std::string_view name = "profile_file";
  static constexpr auto list = fields(
      field("provenance", &ProfileFile::provenance),
      field("profiler", &ProfileFile::profiler, {.meaning = "with its version", .not_empty = true}),
      field("groups", &ProfileFile::groups));
};

}  // namespace amasia
