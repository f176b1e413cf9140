// A small result file with one of everything, made from fixed numbers: what the tests of formats,
// journal, comparison and merging work on.
#pragma once

#include <nlohmann/json.hpp>

#include "harness/conclusions/recomputed.hpp"
#include "harness/conclusions/sessions.hpp"
#include "harness/results/result.hpp"
#include "harness/statistics/statistics.hpp"
#include "tests/test.hpp"

namespace amasia {

/// Nine rounds around `median` ms with a fixed pattern of a few tenths of a percent, another one
/// for each `row`.
inline std::vector<Sample> sample_times(double median, int row) {
  std::vector<Sample> samples;
  for (int round = 0; round < 9; ++round) {
    const double deviation = 0.001 * ((round * 7 + row * 5) % 9 - 4);
    const auto time_ms = static_cast<float>(median * (1 + deviation));
    samples.push_back({round, -1, time_ms, 1980.0 - round, false});
  }
  return samples;
}

inline Row sample_row(const std::string& variant, Role role, double median, int number) {
  Row row;
  row.variant = variant;
  row.role = role;
  row.config = role == Role::iso ? "iso" : "64x8";
  row.config_source = role == Role::iso ? "the original geometry" : "built-in default";
  row.geometry = {{"tile_cols", 64}, {"tile_rows", 8}, {"threads", 256}};
  row.verdict = Verdict{true, "max abs error / max abs reference", 3e-7, 1e-5, 262144, 0, {}};
  row.evidence = {
      {"_Z6kernelv", 40, 0, 1024, 8192, 256, 6, 1, 12288, 90, "sass", {{"LDG", 4}, {"STS", 2}}}};
  row.samples = sample_times(median, number);
  row.source_digest = "5f" + std::string(62, 'a');
  return row;
}

inline std::vector<Ceiling> sample_ceilings() {
  return {
      {"copy_bandwidth", "GB/s", "copies 1 GiB, bytes read + written", {4270, 4280, 4290}, 4280},
      {"fp32_rate", "GFLOP/s", "independent FMAs on every lane", {65100}, 65100},
      {"read_bandwidth", "GB/s", "reads 1 GiB", {4690.5, 4690.25}, 4690.375}};
}

/// hotspot at rows x 512: baseline, its A/A control, and a faster tma, at iso and best; at best
/// also register_bypass, resolved but within the noise.
inline GroupResult sample_group(int rows) {
  GroupResult group;
  group.key = {"hotspot",
               Parameters::from_values(
                   {{"rows", std::to_string(rows)}, {"cols", "512"}, {"chip", "scaled"}}),
               CacheMode::cold, LaunchMode::stream};
  group.preset = Preset::quick;
  group.seed = std::numeric_limits<std::uint64_t>::max();
  group.work = {3932160, Work::Kind::fp32, 2097152, 1048576, 0};
  group.floor = compute_floor(group.work, sample_ceilings());
  group.rounds = 11;
  group.stop_reason = StopReason::narrow_enough;
  group.wall_s = 1.25;
  for (const Role role : {Role::iso, Role::best}) {
    const double slow = role == Role::iso ? 0.02 : 0.01;
    const Row baseline = sample_row("hotspot/baseline", role, slow, 0);
    Row control = sample_row("hotspot/baseline", role, slow, 1);
    control.repeat = 1;
    const Row tma = sample_row("hotspot/tma", role, slow / 1.25, 2);
    for (const Row& row : {baseline, control, tma}) group.rows.push_back(row);
    if (role == Role::best) {
      Row bypass = sample_row("hotspot/register_bypass", role, slow, 0);
      for (Sample& sample : bypass.samples) sample.time_ms *= 1.001F;
      bypass.fallback = "plain copies: cp.async needs sm_80";
      group.rows.push_back(bypass);
    }
  }
  // Two throttled samples, one of them with a clock that could not be read.
  group.rows[0].samples.push_back({9, -1, 0.031F, 900.0, true});
  group.rows[0].samples.push_back({10, -1, 0.030000001F, std::nullopt, true});
  group.rows[0].energy_mj = 6.5;
  group.interval_rule = newest_rule;
  for (const std::size_t round : {std::size_t{3}, std::size_t{6}}) {  // tma ran a second time there
    Sample again = group.rows[2].samples[round];
    again.time_ms *= 1.0005F;
    group.rows[2].repeat_samples.push_back(again);
  }
  recompute(group, 0.95);
  // As the schedule has them, but for one row.
  for (Sample& sample : group.rows.back().samples) sample.position = 2;
  set_positions(group);
  return group;
}

/// A group in which nothing went well, with text that every format must quote.
inline GroupResult sample_trouble() {
  GroupResult group;
  group.key = {"pathfinder", Parameters::from_values({{"rows", "1"}, {"input", "a \"b\" | c"}}),
               CacheMode::hot, LaunchMode::graph};
  group.seed = 1;
  group.work = {10, Work::Kind::int32, 40, 4, 1};
  group.launch_blocked = false;
  group.stop_reason = StopReason::round_limit;
  group.warnings = {"2 samples were throttled"};
  Row failed = sample_row("pathfinder/overlap", Role::iso, 1, 0);
  failed.status = RowStatus::failed;
  failed.reason = "wrong result, see \"first mismatches\"\nin the file";
  failed.samples.clear();
  failed.time_ms.reset();
  failed.verdict = Verdict{false,
                           "exact",
                           std::numeric_limits<double>::infinity(),
                           0,
                           10,
                           2,
                           {"(0, 3): got 3, expected 4", "(0, 4): got nan, expected 5"}};
  Row skipped = sample_row("pathfinder/dsm", Role::best, 1, 0);
  skipped.status = RowStatus::skipped;
  skipped.reason = "needs sm_90, this is sm_80";
  skipped.samples.clear();
  skipped.time_ms.reset();
  skipped.verdict.reset();
  skipped.evidence.clear();
  Row crashed = skipped;
  crashed.variant = "pathfinder/tma";
  crashed.status = RowStatus::crashed;
  crashed.reason = "an illegal memory access was encountered";
  group.rows = {failed, skipped, crashed};
  return group;
}

inline Provenance sample_provenance() {
  Provenance from;
  from.argv = {"amasia", "study", "quick"};
  from.study = "quick";
  from.settings = {{"precision", "0.005"}, {"shard", ""}, {"seed", "18446744073709551615"}};
  from.date_utc = "2026-11-21T09:30:00Z";
  from.commit = "0123456789abcdef0123456789abcdef01234567";
  from.compiler = "GNU 12.2.0";
  from.cuda_compiler = "NVIDIA 13.0.48";
  from.flags = "-O3";
  from.architectures = "90-real";
  for (const char* variant : {"hotspot/baseline", "hotspot/register_bypass", "hotspot/tma",
                              "pathfinder/dsm", "pathfinder/overlap", "pathfinder/tma"}) {
    from.sources[variant] = "5f" + std::string(62, 'a');
  }
  from.harness_digest = "77" + std::string(62, 'b');
  Device& device = from.device;
  device.name = "NVIDIA H200";
  device.compute_capability = 90;
  device.sm_count = 132;
  device.memory_bytes = 150121545728;
  device.free_bytes = 149000000000;
  device.l2_bytes = 62914560;
  device.shared_per_sm = 233472;
  device.shared_per_block = 232448;
  device.shared_reserved = 1024;
  device.registers_per_sm = 65536;
  device.max_threads_per_sm = 2048;
  device.max_clock_mhz = 1980;
  device.memory_clock_mhz = 3201;
  device.memory_bus_bits = 6144;
  device.ecc = true;
  device.cooperative_launch = true;
  device.driver_version = 13000;
  device.runtime_version = 13000;
  device.uuid_hash = "a1b2c3d4e5f6";
  from.device_state = {{"power_limit_w", "700"}, {"temperature_c", "41"}};
  return from;
}

inline ResultFile sample_results() {
  return {sample_provenance(), sample_ceilings(), {sample_group(512), sample_trouble()}};
}

inline ResultFile merge_files(const std::vector<ResultFile>& files,
                              const std::vector<std::string>& names) {
  return merge(files, names).file;
}

}  // namespace amasia
