// The result of a run as data, and its JSON form (schema/result.schema.json). Every sample is kept;
// every table, figure and export derives from these structs and nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/app.hpp"
#include "harness/device.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/statistics/statistics.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {

inline constexpr int result_schema_version = 5;
inline constexpr std::string_view result_schema_name = "amasia-result";

/// One timed run. `round` is the round of the interleaved schedule, `position` the place in it.
struct Sample {
  int round = 0;
  int position = -1;                     // -1: not known
  float time_ms = 0;                     // as CUDA's events have it
  std::optional<double> sm_clock_mhz{};  // to 0.1 MHz
  bool throttled = false;                // excluded from summaries and comparisons, kept here
};

/// Facts about the code that ran (docs/methodology.md, "Proof of mechanism").
struct KernelEvidence {
  std::string kernel;  // mangled name
  int registers = 0;
  std::size_t local_bytes = 0;  // per thread; > 0 means spills or a local array
  std::size_t static_shared_bytes = 0;
  std::size_t dynamic_shared_bytes = 0;
  int threads = 0;
  int blocks_per_sm = 0;  // that fit at once, whatever was launched
  int cluster_blocks = 1;
  std::size_t bytes_in_flight_per_sm = 0;     // mean over the SMs, of the blocks that were launched
  int binary_version = 0;                     // architecture of the loaded machine code, e.g. 90
  std::string source;                         // "sass", "ptx" or "none: <reason>"
  std::map<std::string, int> instructions{};  // opcode group -> count, e.g. "LDGSTS" -> 12
  /// By its largest launch; empty: not known. Not in the file, which has what follows from it: the
  /// bytes in flight.
  std::optional<std::int64_t> launched_blocks{};
};

/// One variant in one config in one group. `repeat` 1 marks the A/A control of the baseline.
struct Row {
  std::string variant;  // "hotspot/tma"
  Role role = Role::iso;
  int repeat = 0;
  std::string config;
  std::string config_source;  // "iso", "tuned at rows=...", "built-in default"
  std::vector<std::pair<std::string, std::int64_t>> geometry{};
  std::string spells{};    // of a comparator that is a strategy in a library's words: that strategy
  std::string schedule{};  // "" where the app's configs are not divided into schedule and movement
  std::vector<std::pair<std::string, std::int64_t>> movement{};
  RowStatus status = RowStatus::ok;
  std::string reason{};    // why skipped, failed or crashed
  std::string fallback{};  // e.g. "plain copies: cp.async needs sm_80"
  std::optional<Verdict> verdict{};
  std::vector<KernelEvidence> evidence{};
  std::vector<Sample> samples{};
  /// A second run in some of the rounds: what the row differs from itself.
  std::vector<Sample> repeat_samples{};
  std::optional<MedianInterval> time_ms{};  // of the samples not throttled
  std::optional<double> floor_fraction{};   // floor / median
  std::optional<double> gflops{};
  std::optional<double> gbytes_per_s{};  // compulsory bytes / median
  std::optional<double> energy_mj{};     // per run, hot batch
  /// Of a user kernel: the timed round, chosen at random, whose outputs were
  /// judged.
  std::optional<int> verified_round{};
  std::string left_set{};  // of persisting L2, by any run; put back before the next sample
  std::string source_digest{};
};

/// Sets what became of a row, or of a point of a microbenchmark, and why.
template <class AnyRow>
void give_up(AnyRow& row, RowStatus status, const std::string& reason) {
  row.status = status;
  row.reason = reason;
}

/// What tells a row from the other rows of its variant in a group:
/// "best", "candidate 8-warps", "counterpart 8-warps", "matched wide", "cross wide": the role, and
/// what distinguishes rows of that role.
inline std::string role_in_group(const Row& row) {
  std::string name(word_of(row.role));
  if (row.role == Role::candidate || row.role == Role::counterpart) return name + " " + row.config;
  if (row.role == Role::matched || row.role == Role::cross) return name + " " + row.schedule;
  return name;
}

/// Paired comparison of one row with its reference row in the same group.
///
/// iso, best: against the baseline in that role, whatever the schedules. matched and cross: against
/// the baseline with the same schedule, so that movement alone differs. A matched comparison of the
/// baseline itself: that schedule against the one it is best with, so that the schedule alone
/// differs. counterpart: a comparator against the strategy that it implements, in the config of the
/// same name.
struct Comparison {
  std::string variant;
  Role role = Role::iso;
  std::string schedule{};          // of the row; "" as in Row
  std::string against;             // "hotspot/baseline"
  std::string against_schedule{};  // of the reference
  bool control = false;            // baseline against itself: the noise floor
  RatioInterval speedup{};         // time(reference) / time(variant)
  /// The row's first run over its second in the rounds that have both; nothing where none has.
  std::optional<RatioInterval> itself{};
  SpeedVerdict verdict = SpeedVerdict::not_resolved;
  SpeedClaim claim = SpeedClaim::not_resolved;
};

struct Floor {
  double bytes_ms = 0;
  double operations_ms = 0;
  double dependency_ms = 0;
  double floor_ms() const;
  Bound bound_by() const;
};

/// One app, one size, one cache mode, one launch mode: the unit of isolation and of comparison.
struct GroupKey {
  std::string app;
  Parameters size;
  CacheMode cache = CacheMode::cold;
  LaunchMode launch = LaunchMode::stream;
  /// "hotspot rows=512,cols=512 cold stream"
  std::string to_string() const;
  // Written out: nvcc compiles this as C++17.
  friend bool operator==(const GroupKey& a, const GroupKey& b) {
    return a.app == b.app && a.size == b.size && a.cache == b.cache && a.launch == b.launch;
  }
};

/// Why a group's measurement is not valid, and what to do about it: a sentence each.
struct Invalidity {
  InvalidKind kind = InvalidKind::interference;
  std::string reason;
  std::string remedy;
};

/// A fixed piece of work of some ten microseconds on every SM and on memory, between two samples.
/// Another process on the GPU shows in it: by time-slicing as a wait, by sharing SMs or memory as
/// longer work (docs/methodology.md, "Disturbed measurements").
struct ProbeReading {
  int round = 0;                 // after a sample of this round; -1 before the first
  double wait_us = 0;            // from the launch to the first block's start
  double arithmetic_cycles = 0;  // SM clock cycles
  double memory_us = 0;
};

struct GroupResult {
  GroupKey key;
  /// Index into Provenance::sessions; none in a file of one session, which is its provenance.
  std::optional<int> session{};
  std::string uuid_hash{};  // of the GPU, for a shard that ran on another one than the file's first
  std::optional<Preset> preset{};  // which the size came from; none for --size
  std::uint64_t seed = 0;
  Work work{};
  std::optional<Floor> floor{};
  int rounds = 0;
  std::optional<StopReason> stop_reason{};
  /// None for a search, whose intervals are exact.
  std::optional<IntervalRule> interval_rule{};
  /// Of user kernels: whether timed rounds had new inputs, and what stayed.
  std::string inputs{};
  bool launch_blocked = true;  // queued behind the spin kernel; false when too long for the queue
  std::vector<Row> rows{};
  std::vector<Comparison> comparisons{};
  std::vector<std::string> warnings{};
  std::vector<ProbeReading> probe{};
  std::map<std::string, std::string> device_state{};  // NVML at the group's end; absent = unknown
  /// Anything in it: no claim is made from this group.
  std::vector<Invalidity> invalid{};
  /// Why an earlier measurement of this group was thrown away and this one made.
  std::vector<Invalidity> repeated_because{};
  double wall_s = 0;
};

/// A ceiling measured in the same process as the groups, e.g. "copy_bandwidth" in "GB/s".
struct Ceiling {
  std::string name;
  std::string unit;
  std::string method;  // one sentence
  std::vector<double> samples{};
  double value = 0;  // median of samples
};

/// What became of a Claim: an instruction counted in the code that the device loads.
struct Proof {
  std::string kernel;       // mangled name
  std::string instruction;  // as the source names it: "LDG" (sass), "ld.global" (ptx)
  int claimed = 0;
  bool in_loop = true;         // counted in the loops of the kernel only
  std::optional<int> found{};  // nothing when the code could not be read
  std::string source;          // "sass", "ptx" or "none: <reason>"
};

/// One point of a microbenchmark.
struct MicrobenchmarkRow {
  Coordinates at;
  std::string quantity;
  std::string unit;
  bool larger_is_better = false;
  RowStatus status = RowStatus::ok;
  std::string reason{};  // why skipped, failed or crashed
  std::string remark{};
  std::vector<KernelEvidence> evidence{};
  std::vector<Proof> proof{};
  std::vector<Reading> samples{};
  std::optional<MedianInterval> value{};  // in `unit`
  std::optional<double> cycles{};         // medians of what the samples have
  std::optional<double> time_ns{};
  std::optional<double> clock_mhz{};
  std::optional<StopReason> stop_reason{};
};

/// All points of one microbenchmark: the unit of isolation.
struct MicrobenchmarkResult {
  std::string name;
  std::string question;
  std::string method;
  Scope scope = Scope::quick;
  std::vector<MicrobenchmarkRow> rows{};
  std::vector<Finding> findings{};
  std::vector<std::string> warnings{};
  std::vector<Invalidity> invalid{};
  std::string source_digest{};
  double wall_s = 0;
  std::optional<int> session{};  // as in GroupResult
  std::string uuid_hash{};
};

/// One pass over the cases: when and on which GPU. A file of several has the groups of each.
struct SessionRecord {
  std::string date_utc{};  // when it began
  std::string commit{};
  bool dirty = false;
  std::string compiler{}, flags{};  // as in Provenance; empty in older files: as the file's
  std::string uuid_hash{};
  double wall_s = 0;  // of its groups and microbenchmarks
  std::map<std::string, std::string> device_state{};
};

struct Provenance {
  std::vector<std::string> argv{};
  std::string study{};
  std::map<std::string, std::string> settings{};  // resolved options
  std::string date_utc{};
  std::string commit{};
  bool dirty = false;
  std::string compiler{}, cuda_compiler{}, flags{}, architectures{};
  std::map<std::string, std::string> sources{};  // variant -> SHA-256 of its code
  std::string harness_digest{};
  Device device{};
  std::map<std::string, std::string>
      device_state{};       // NVML: power limit, temperature, MIG, ... ; absent = unknown
  std::string host_name{};  // only with --record-host
  /// Of a file that holds more than one; what stands above is of the first then.
  std::vector<SessionRecord> sessions{};
};

struct ResultFile {
  Provenance provenance{};
  std::vector<Ceiling> ceilings{};
  std::vector<GroupResult> groups{};
  std::vector<MicrobenchmarkResult> microbenchmarks{};
  /// The different ones in the evidence of all rows, in order of first use.
  std::vector<KernelEvidence> kernels() const;
  void add(GroupResult group) { groups.push_back(std::move(group)); }
  void add(MicrobenchmarkResult result) { microbenchmarks.push_back(std::move(result)); }
};

/// Calls visit(result) with each group, then with each microbenchmark.
template <class File, class Visit>
void each_result(File& file, const Visit& visit) {
  for (auto& group : file.groups) visit(group);
  for (auto& microbenchmark : file.microbenchmarks) visit(microbenchmark);
}

// JSON both ways: member names are the names above, enums their lower-case word, samples columns.
// Integers are exact in 64 bits and doubles round-trip. to_json throws ResultError for a number
// that is not finite; in a verdict it becomes null, because outputs can be NaN. from_json names the
// member: "groups[0].rows[3].samples.time_ms[7]: expected ...". In a file the evidence of a row is
// a list of indices into `kernels`; a group or microbenchmark on its own has it inside.
Json to_json(const ResultFile&);  // without schema, version and digest
Json to_json(const GroupResult&);
Json to_json(const Ceiling&);
Json to_json(const Verdict&);
Json to_json(const MicrobenchmarkResult&);
Json to_json(const Provenance&);
Json to_json(const GroupKey&);
Json to_json(const Parameters&);  // integers as numbers, anything else as text
// Believed as it stands; read_result_file() (harness/conclusions/recomputed.hpp) checks it.
ResultFile unchecked_from_json(Json);
GroupResult group_from_json(const Json&);
Ceiling ceiling_from_json(const Json&);
Verdict verdict_from_json(const Json&);
MicrobenchmarkResult microbenchmark_from_json(const Json&);
Provenance provenance_from_json(const Json&);

GroupKey group_key_from_json(const Json&);

/// The text of a file, sealed (envelope.hpp).
std::string to_text(const ResultFile&);
/// Provenance and ceilings alone, from the first lines: the rest is megabytes. Without a look at
/// the digest.
ResultFile read_beginning(const std::string& path);
/// As write_text_file(); packed where the name ends in .gz.
void write_result_file(const std::string& path, const ResultFile&);

/// Whether a row runs a second time in some rounds: one that is compared with another row. The
/// baseline has its control for that, and a search compares every row with every other.
bool runs_twice(const Row& row);

/// Sets positions as the schedule has them for the rows that have samples. Where those of a row are
/// known, they stay.
void set_positions(GroupResult& group);

}  // namespace amasia
