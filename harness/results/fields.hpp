// Every field of a result file, in the order in which it is written. A new one is a member of its
// struct (result.hpp) and a line here; then `amasia schema > schema/result.schema.json`.
#pragma once

#include "harness/results/field.hpp"
#include "harness/results/result.hpp"

namespace amasia {

inline constexpr std::string_view two_names = "^[^/]+/[^/]+$";  // "hotspot/tma"
inline constexpr Rules of_session{.meaning = "which of provenance.sessions; absent without those",
                                  .optional = true};
inline constexpr Rules of_other_gpu{.meaning = "of the GPU; absent: that of its session or file",
                                    .optional = true};

template <>
struct Fields<Device> {
  static constexpr std::string_view name = "device";
  static constexpr auto list = fields(
      field("index", &Device::index), field("name", &Device::name, {.not_empty = true}),
      field("compute_capability", &Device::compute_capability, {.meaning = "major * 10 + minor"}),
      field("sm_count", &Device::sm_count), field("memory_bytes", &Device::memory_bytes),
      field("free_bytes", &Device::free_bytes, {.meaning = "when queried", .optional = true}),
      field("l2_bytes", &Device::l2_bytes), field("shared_per_sm", &Device::shared_per_sm),
      field("shared_per_block", &Device::shared_per_block, {.meaning = "opt-in maximum"}),
      field("shared_reserved", &Device::shared_reserved,
            {.meaning = "taken by CUDA from each resident block", .optional = true}),
      field("registers_per_sm", &Device::registers_per_sm),
      field("max_threads_per_sm", &Device::max_threads_per_sm),
      field("max_clock_mhz", &Device::max_clock_mhz),
      field("memory_clock_mhz", &Device::memory_clock_mhz),
      field("memory_bus_bits", &Device::memory_bus_bits), field("ecc", &Device::ecc),
      field("cooperative_launch", &Device::cooperative_launch, {.optional = true}),
      field("driver_version", &Device::driver_version,
            {.meaning = "CUDA version the driver supports, e.g. 13000"}),
      field("runtime_version", &Device::runtime_version),
      field("uuid_hash", &Device::uuid_hash,
            {.meaning = "distinguishes GPUs without naming them"}));
};

template <>
struct Fields<SessionRecord> {
  static constexpr std::string_view name = "session";
  static constexpr std::string_view meaning = "one pass over the cases, and the GPU it was on";
  static constexpr auto list = fields(
      field("date_utc", &SessionRecord::date_utc,
            {.meaning = "when it began", .pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$"}),
      field("commit", &SessionRecord::commit), field("dirty", &SessionRecord::dirty),
      field("compiler", &SessionRecord::compiler,
            {.meaning = "empty or absent: that of the file", .optional = true}),
      field("flags", &SessionRecord::flags,
            {.meaning = "empty or absent: those of the file", .optional = true}),
      field("uuid_hash", &SessionRecord::uuid_hash),
      field("wall_s", &SessionRecord::wall_s,
            {.meaning = "of its groups and microbenchmarks", .least = 0}),
      field("device_state", &SessionRecord::device_state,
            {.meaning = "from NVML, before it began; absent = unknown"}));
};

template <>
struct Fields<Provenance> {
  static constexpr std::string_view name = "provenance";
  static constexpr auto list = fields(
      field("argv", &Provenance::argv),
      field("study", &Provenance::study, {.meaning = "empty when no study was named"}),
      field("settings", &Provenance::settings, {.meaning = "resolved options"}),
      field("date_utc", &Provenance::date_utc,
            {.pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z$"}),
      field("commit", &Provenance::commit), field("dirty", &Provenance::dirty),
      field("compiler", &Provenance::compiler), field("cuda_compiler", &Provenance::cuda_compiler),
      field("flags", &Provenance::flags), field("architectures", &Provenance::architectures),
      field(
          "sources", &Provenance::sources,
          {.meaning = "variant or microbenchmark -> SHA-256 of its code, by content; empty when it "
                      "is not known"}),
      field("harness_digest", &Provenance::harness_digest), field("device", &Provenance::device),
      field("device_state", &Provenance::device_state, {.meaning = "from NVML; absent = unknown"}),
      field("host_name", &Provenance::host_name,
            {.meaning = "only with --record-host", .optional = true}),
      field("sessions", &Provenance::sessions,
            {.meaning = "absent in a file of one session; else the members above are of the first",
             .optional = true}));
};

template <>
struct Fields<Ceiling> {
  static constexpr std::string_view name = "ceiling";
  static constexpr auto list =
      fields(field("name", &Ceiling::name, {.not_empty = true}),
             field("unit", &Ceiling::unit, {.not_empty = true}), field("method", &Ceiling::method),
             field("samples", &Ceiling::samples),
             field("value", &Ceiling::value, {.meaning = "median of the samples"}));
};

template <>
struct Fields<GroupKey> {
  static constexpr std::string_view name = "key";
  static constexpr auto list =
      fields(field("app", &GroupKey::app, {.not_empty = true}),
             field("size", &GroupKey::size, {.meaning = "the app's parameters, in its order"}),
             field("cache", &GroupKey::cache), field("launch", &GroupKey::launch));
};

template <>
struct Fields<Work> {
  static constexpr std::string_view name = "work";
  static constexpr auto list =
      fields(field("operations", &Work::operations, not_negative), field("kind", &Work::kind),
             field("bytes_read", &Work::bytes_read, not_negative),
             field("bytes_written", &Work::bytes_written, not_negative),
             field("dependent_operations", &Work::dependent_operations, not_negative));
};

template <>
struct Fields<Floor> {
  static constexpr std::string_view name = "floor";
  static constexpr auto list = fields(
      field("bytes_ms", &Floor::bytes_ms, not_negative),
      field("operations_ms", &Floor::operations_ms, not_negative),
      field("dependency_ms", &Floor::dependency_ms, not_negative),
      derived("floor_ms", &Floor::floor_ms, {.meaning = "the maximum of the three", .least = 0}),
      derived("bound_by", &Floor::bound_by));
};

template <>
struct Fields<Verdict> {
  static constexpr std::string_view name = "verdict";
  static constexpr auto list = fields(
      field("passed", &Verdict::passed), field("norm", &Verdict::norm),
      field("error", &Verdict::error,
            {.meaning = "null when it was not finite", .infinite_is_null = true}),
      field("bound", &Verdict::bound, {.infinite_is_null = true}),
      field("checked", &Verdict::checked), field("mismatches", &Verdict::mismatches),
      field("first_mismatches", &Verdict::first_mismatches, {.optional = true, .most_items = 5}));
};

template <>
struct Fields<KernelEvidence> {
  static constexpr std::string_view name = "evidence";
  static constexpr auto list =
      fields(field("kernel", &KernelEvidence::kernel, {.meaning = "mangled name"}),
             field("registers", &KernelEvidence::registers),
             field("local_bytes", &KernelEvidence::local_bytes,
                   {.meaning = "per thread; more than 0 means spills or a local array"}),
             field("static_shared_bytes", &KernelEvidence::static_shared_bytes),
             field("dynamic_shared_bytes", &KernelEvidence::dynamic_shared_bytes),
             field("threads", &KernelEvidence::threads),
             field("blocks_per_sm", &KernelEvidence::blocks_per_sm,
                   {.meaning = "that fit at once, whatever was launched"}),
             field("cluster_blocks", &KernelEvidence::cluster_blocks, {.least_integer = 1}),
             field("bytes_in_flight_per_sm", &KernelEvidence::bytes_in_flight_per_sm,
                   {.meaning = "of tile data, the mean over the SMs"}),
             field("binary_version", &KernelEvidence::binary_version,
                   {.meaning = "architecture of the loaded machine code, e.g. 90"}),
             field("source", &KernelEvidence::source, {.meaning = "sass, ptx or none: <reason>"}),
             field("instructions", &KernelEvidence::instructions));
};

template <>
struct Fields<Sample> {
  static constexpr std::string_view name = "samples";
  static constexpr std::string_view meaning =
      "one column per member, all of the same length; sample i is entry i of each";
  static constexpr bool columns = true;
  static constexpr auto list =
      fields(field("round", &Sample::round,
                   {.meaning = "absent: 0, 1, 2, ...", .optional = true, .counts = true}),
             field("position", &Sample::position,
                   {.meaning = "in its round; absent: as the interleaved schedule has it for this "
                               "row among the rows of the group that have samples",
                    .optional = true}),
             field("time_ms", &Sample::time_ms,
                   {.meaning = "exact as float32", .least = 0, .above = true}),
             // A clock of 0 is one that could not be read.
             field("sm_clock_mhz", &Sample::sm_clock_mhz,
                   {.meaning = "null: not read", .optional = true, .least = 0, .above = true}),
             field("throttled", &Sample::throttled,
                   {.meaning = "indices of the samples that were", .optional = true}));
};

template <>
struct Fields<MedianInterval> {
  static constexpr std::string_view name = "median_interval";
  static constexpr auto list = fields(field("median", &MedianInterval::median, positive),
                                      field("low", &MedianInterval::low, positive),
                                      field("high", &MedianInterval::high, positive),
                                      field("coverage", &MedianInterval::coverage, share),
                                      field("n", &MedianInterval::n, {.least_integer = 1}),
                                      field("minimum", &MedianInterval::minimum, positive),
                                      field("maximum", &MedianInterval::maximum, positive));
};

template <>
struct Fields<Row> {
  static constexpr std::string_view name = "row";
  static constexpr auto list = fields(
      field("variant", &Row::variant, {.pattern = two_names}), field("role", &Row::role),
      field("repeat", &Row::repeat, {.meaning = "1 marks the A/A control", .optional = true}),
      field("config", &Row::config), field("config_source", &Row::config_source),
      field("geometry", &Row::geometry, {.least_integer = INT64_MIN}),
      field("spells", &Row::spells,
            {.meaning = "the strategy that a comparator has in the words of a library",
             .optional = true}),
      field("schedule", &Row::schedule,
            {.meaning = "absent where configs have no schedule apart from the movement",
             .optional = true}),
      field("movement", &Row::movement,
            {.meaning = "parameters of the way data moves", .optional = true}),
      field("status", &Row::status),
      field("reason", &Row::reason, {.meaning = "why not ok", .optional = true}),
      field("fallback", &Row::fallback, {.optional = true}),
      field("verdict", &Row::verdict, {.optional = true}),
      field("evidence", &Row::evidence, {.optional = true, .shared = true}),
      field("samples", &Row::samples),
      field("repeat_samples", &Row::repeat_samples,
            {.meaning = "a second run in some rounds; not in time_ms", .optional = true}),
      field("time_ms", &Row::time_ms,
            {.meaning = "of the samples not throttled; absent when the row has no time",
             .optional = true}),
      field("floor_fraction", &Row::floor_fraction, {.optional = true, .least = 0}),
      field("gflops", &Row::gflops, {.optional = true, .least = 0}),
      field("gbytes_per_s", &Row::gbytes_per_s, {.optional = true, .least = 0}),
      field("energy_mj", &Row::energy_mj,
            {.meaning = "per run, in a hot batch", .optional = true, .least = 0}),
      field("verified_round", &Row::verified_round,
            {.meaning = "of a user kernel: the timed round, chosen at random, "
                        "whose outputs were judged",
             .optional = true}),
      field("left_set", &Row::left_set,
            {.meaning = "of persisting L2, by any run; put back before the next sample",
             .optional = true}),
      field("source_digest", &Row::source_digest, {.optional = true}));
};

template <>
struct Fields<RatioInterval> {
  static constexpr std::string_view name = "ratio_interval";
  static constexpr auto list = fields(
      field("ratio", &RatioInterval::ratio, positive), field("low", &RatioInterval::low, positive),
      field("high", &RatioInterval::high, positive),
      field("coverage", &RatioInterval::coverage, share), field("n", &RatioInterval::n),
      field("resolved", &RatioInterval::resolved));
};

template <>
struct Fields<Comparison> {
  static constexpr std::string_view name = "comparison";
  static constexpr auto list = fields(
      field("variant", &Comparison::variant, {.pattern = two_names}),
      field("role", &Comparison::role),
      field("schedule", &Comparison::schedule, {.meaning = "of the row", .optional = true}),
      field("against", &Comparison::against, {.pattern = two_names}),
      field("against_schedule", &Comparison::against_schedule, {.optional = true}),
      field("control", &Comparison::control, {.meaning = "baseline against itself"}),
      field("speedup", &Comparison::speedup, {.meaning = "time(against) / time(variant)"}),
      field("itself", &Comparison::itself,
            {.meaning = "the row's first run over its second, in the rounds that have both",
             .optional = true}),
      field("verdict", &Comparison::verdict, {.meaning = "what the interval says by itself"}),
      field("claim", &Comparison::claim,
            {.meaning = "what may be said: the verdict after the A/A control"}));
};

template <>
struct Fields<Invalidity> {
  static constexpr std::string_view name = "invalidity";
  static constexpr std::string_view meaning = "why a measurement is not valid";
  static constexpr auto list = fields(
      field("kind", &Invalidity::kind), field("reason", &Invalidity::reason, {.not_empty = true}),
      field("remedy", &Invalidity::remedy, {.meaning = "what to do", .not_empty = true}));
};

template <>
struct Fields<ProbeReading> {
  static constexpr std::string_view name = "probe";
  static constexpr std::string_view meaning =
      "a fixed piece of work between two samples, which shows interference by other GPU processes; "
      "one column per member, all of the same length";
  static constexpr bool columns = true;
  static constexpr auto list =
      fields(field("round", &ProbeReading::round, {.least_integer = -1}),
             field("wait_us", &ProbeReading::wait_us, not_negative),
             field("arithmetic_cycles", &ProbeReading::arithmetic_cycles, not_negative),
             field("memory_us", &ProbeReading::memory_us, not_negative));
};

template <>
struct Fields<GroupResult> {
  static constexpr std::string_view name = "group";
  static constexpr auto list = fields(
      field("key", &GroupResult::key),
      field("preset", &GroupResult::preset, {.meaning = "that the size is from; empty for --size"}),
      field("seed", &GroupResult::seed), field("work", &GroupResult::work),
      field("floor", &GroupResult::floor,
            {.meaning = "the bound by the ceilings of this file; absent without them",
             .optional = true}),
      field("rounds", &GroupResult::rounds),
      field("stop_reason", &GroupResult::stop_reason,
            {.meaning = "empty when no row ran: the warnings say why"}),
      field("interval_rule", &GroupResult::interval_rule,
            {.meaning = "of samples that depend on each other; absent: exact", .optional = true}),
      field("inputs", &GroupResult::inputs,
            {.meaning = "of user kernels: whether timed rounds had new inputs, and "
                        "what stayed the same",
             .optional = true}),
      field("launch_blocked", &GroupResult::launch_blocked), field("rows", &GroupResult::rows),
      field("comparisons", &GroupResult::comparisons), field("warnings", &GroupResult::warnings),
      field("probe", &GroupResult::probe, {.optional = true}),
      field("device_state", &GroupResult::device_state,
            {.meaning = "from NVML at the group's end; absent = unknown", .optional = true}),
      field("invalid", &GroupResult::invalid,
            {.meaning = "anything in it: no claim is made from this group", .optional = true}),
      field("repeated_because", &GroupResult::repeated_because,
            {.meaning = "why an earlier measurement of this group was thrown away",
             .optional = true}),
      field("wall_s", &GroupResult::wall_s, not_negative),
      field("session", &GroupResult::session, of_session),
      field("uuid_hash", &GroupResult::uuid_hash, of_other_gpu));
};

template <>
struct Fields<Proof> {
  static constexpr std::string_view name = "proof";
  static constexpr std::string_view meaning =
      "an instruction counted in the code that the device loads";
  static constexpr auto list =
      fields(field("kernel", &Proof::kernel),
             field("instruction", &Proof::instruction, {.not_empty = true}),
             field("claimed", &Proof::claimed),
             field("in_loop", &Proof::in_loop, {.meaning = "counted in the kernel's loops only"}),
             field("found", &Proof::found, {.optional = true}), field("source", &Proof::source));
};

template <>
struct Fields<Reading> {
  static constexpr std::string_view name = "readings";
  static constexpr std::string_view meaning = "one column per member, all of the same length";
  static constexpr bool columns = true;
  static constexpr auto list = fields(field("value", &Reading::value, positive),
                                      field("cycles", &Reading::cycles, {.optional = true}),
                                      field("time_ns", &Reading::time_ns, {.optional = true}),
                                      field("clock_mhz", &Reading::clock_mhz, {.optional = true}));
};

template <>
struct Fields<MicrobenchmarkRow> {
  static constexpr std::string_view name = "microbenchmark_row";
  static constexpr auto list = fields(
      field("at", &MicrobenchmarkRow::at, {.meaning = "coordinates of the point, in order"}),
      field("quantity", &MicrobenchmarkRow::quantity, {.not_empty = true}),
      field("unit", &MicrobenchmarkRow::unit, {.not_empty = true}),
      field("larger_is_better", &MicrobenchmarkRow::larger_is_better),
      field("status", &MicrobenchmarkRow::status),
      field("reason", &MicrobenchmarkRow::reason, {.meaning = "why not ok", .optional = true}),
      field("remark", &MicrobenchmarkRow::remark, {.optional = true}),
      field("evidence", &MicrobenchmarkRow::evidence, {.optional = true, .shared = true}),
      field("proof", &MicrobenchmarkRow::proof, {.optional = true}),
      field("samples", &MicrobenchmarkRow::samples),
      field("value", &MicrobenchmarkRow::value,
            {.meaning = "in the row's unit; absent when the row has no value", .optional = true}),
      field("cycles", &MicrobenchmarkRow::cycles,
            {.meaning = "median, of the same event as time_ns", .optional = true}),
      field("time_ns", &MicrobenchmarkRow::time_ns, {.optional = true}),
      field("clock_mhz", &MicrobenchmarkRow::clock_mhz,
            {.meaning = "the clock the two imply", .optional = true}),
      field("stop_reason", &MicrobenchmarkRow::stop_reason, {.optional = true}));
};

template <>
struct Fields<Finding> {
  static constexpr std::string_view name = "finding";
  static constexpr std::string_view meaning =
      "what follows from several points: a capacity, a knee";
  static constexpr auto list = fields(
      field("at", &Finding::at), field("quantity", &Finding::quantity, {.not_empty = true}),
      field("unit", &Finding::unit, {.not_empty = true}), field("value", &Finding::value),
      field("low", &Finding::low), field("high", &Finding::high), field("how", &Finding::how));
};

template <>
struct Fields<MicrobenchmarkResult> {
  static constexpr std::string_view name = "microbenchmark";
  static constexpr std::string_view meaning = "all points of one microbench/<question>/<name>.cu";
  static constexpr auto list = fields(
      field("name", &MicrobenchmarkResult::name, {.pattern = two_names}),
      field("question", &MicrobenchmarkResult::question, {.not_empty = true}),
      field("method", &MicrobenchmarkResult::method, {.not_empty = true}),
      field("scope", &MicrobenchmarkResult::scope), field("rows", &MicrobenchmarkResult::rows),
      field("findings", &MicrobenchmarkResult::findings),
      field("warnings", &MicrobenchmarkResult::warnings),
      field("invalid", &MicrobenchmarkResult::invalid,
            {.meaning = "not empty: these points make no claim", .optional = true}),
      field("source_digest", &MicrobenchmarkResult::source_digest, {.optional = true}),
      field("wall_s", &MicrobenchmarkResult::wall_s, not_negative),
      field("session", &MicrobenchmarkResult::session, of_session),
      field("uuid_hash", &MicrobenchmarkResult::uuid_hash, of_other_gpu));
};

/// Behind "schema", "version" and "digest".
template <>
struct Fields<ResultFile> {
  static constexpr std::string_view name = "file";
  static constexpr auto list =
      fields(field("ceilings", &ResultFile::ceilings), field("provenance", &ResultFile::provenance),
             derived("kernels", &ResultFile::kernels,
                     {.meaning = "the different ones, to which rows refer", .optional = true}),
             field("groups", &ResultFile::groups),
             field("microbenchmarks", &ResultFile::microbenchmarks, {.optional = true}));
};

}  // namespace amasia
