// Results to JSON (result.hpp says how).
#include "harness/results/result.hpp"

#include <charconv>
#include <cmath>

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

double finite(double value, const char* member) {
  if (!std::isfinite(value)) throw ResultError(std::string(member) + ": is not a finite number");
  return value;
}

double positive(double value, const char* member) {
  if (!(finite(value, member) > 0)) throw ResultError(std::string(member) + ": is not positive");
  return value;
}

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json optional_number(const std::optional<double>& value) {
  return value ? finite_or_null(*value) : Json(nullptr);
}

template <class Value>
Json object_of(const Value& pairs) {
  Json object = Json::object();
  for (const auto& [name, value] : pairs) object[name] = value;
  return object;
}

Json to_json(const KernelEvidence&);
Json to_json(const Row&);
Json to_json(const Comparison&);
Json to_json(const Proof&);
Json to_json(const MicrobenchmarkRow&);
Json to_json(const Finding&);

template <class T>
Json array_of(const std::vector<T>& items) {
  Json array = Json::array();
  for (const T& item : items) array.push_back(to_json(item));
  return array;
}

Json to_json(const Device& device) {
  return {{"index", device.index},
          {"name", device.name},
          {"compute_capability", device.compute_capability},
          {"sm_count", device.sm_count},
          {"memory_bytes", device.memory_bytes},
          {"free_bytes", device.free_bytes},
          {"l2_bytes", device.l2_bytes},
          {"shared_per_sm", device.shared_per_sm},
          {"shared_per_block", device.shared_per_block},
          {"shared_reserved", device.shared_reserved},
          {"registers_per_sm", device.registers_per_sm},
          {"max_threads_per_sm", device.max_threads_per_sm},
          {"max_clock_mhz", device.max_clock_mhz},
          {"memory_clock_mhz", device.memory_clock_mhz},
          {"memory_bus_bits", device.memory_bus_bits},
          {"ecc", device.ecc},
          {"cooperative_launch", device.cooperative_launch},
          {"driver_version", device.driver_version},
          {"runtime_version", device.runtime_version},
          {"uuid_hash", device.uuid_hash}};
}

Json to_json(const Work& work) {
  return {{"operations", finite(work.operations, "operations")},
          {"kind", name_of(work.kind)},
          {"bytes_read", finite(work.bytes_read, "bytes_read")},
          {"bytes_written", finite(work.bytes_written, "bytes_written")},
          {"dependent_operations", finite(work.dependent_operations, "dependent_operations")}};
}

/// With its maximum and what bounds it, so that readers need not repeat the rule.
Json to_json(const Floor& floor) {
  return {{"bytes_ms", finite(floor.bytes_ms, "bytes_ms")},
          {"operations_ms", finite(floor.operations_ms, "operations_ms")},
          {"dependency_ms", finite(floor.dependency_ms, "dependency_ms")},
          {"floor_ms", floor.floor_ms()},
          {"bound_by", floor.bound_by()}};
}

Json to_json(const Verdict& verdict) {
  return {{"passed", verdict.passed},
          {"norm", verdict.norm},
          {"error", finite_or_null(verdict.error)},
          {"bound", finite_or_null(verdict.bound)},
          {"checked", verdict.checked},
          {"mismatches", verdict.mismatches},
          {"first_mismatches", verdict.first_mismatches}};
}

Json to_json(const KernelEvidence& evidence) {
  return {{"kernel", evidence.kernel},
          {"registers", evidence.registers},
          {"local_bytes", evidence.local_bytes},
          {"static_shared_bytes", evidence.static_shared_bytes},
          {"dynamic_shared_bytes", evidence.dynamic_shared_bytes},
          {"threads", evidence.threads},
          {"blocks_per_sm", evidence.blocks_per_sm},
          {"cluster_blocks", evidence.cluster_blocks},
          {"bytes_in_flight_per_sm", evidence.bytes_in_flight_per_sm},
          {"binary_version", evidence.binary_version},
          {"source", evidence.source},
          {"instructions", object_of(evidence.instructions)}};
}

Json columns_of(const std::vector<Sample>& samples) {
  Json round = Json::array(), position = Json::array(), time = Json::array(), clock = Json::array(),
       throttled = Json::array();
  for (const Sample& sample : samples) {
    round.push_back(sample.round);
    position.push_back(sample.position);
    time.push_back(positive(sample.time_ms, "samples.time_ms"));
    // A clock of 0 is one that could not be read.
    const bool known = sample.sm_clock_mhz && *sample.sm_clock_mhz > 0;
    clock.push_back(known ? finite_or_null(*sample.sm_clock_mhz) : Json(nullptr));
    throttled.push_back(sample.throttled);
  }
  return {{"round", std::move(round)},
          {"position", std::move(position)},
          {"time_ms", std::move(time)},
          {"sm_clock_mhz", std::move(clock)},
          {"throttled", std::move(throttled)}};
}

Json to_json(const MedianInterval& interval) {
  return {{"median", positive(interval.median, "time_ms.median")},
          {"low", positive(interval.low, "time_ms.low")},
          {"high", positive(interval.high, "time_ms.high")},
          {"coverage", finite(interval.coverage, "time_ms.coverage")},
          {"n", interval.n},
          {"minimum", positive(interval.minimum, "time_ms.minimum")},
          {"maximum", positive(interval.maximum, "time_ms.maximum")}};
}

template <class T>
Json optional_object(const std::optional<T>& value) {
  return value ? to_json(*value) : Json(nullptr);
}

Json to_json(const Row& row) {
  return {{"variant", row.variant},
          {"role", row.role},
          {"repeat", row.repeat},
          {"config", row.config},
          {"config_source", row.config_source},
          {"geometry", object_of(row.geometry)},
          {"status", name_of(row.status)},
          {"reason", row.reason},
          {"fallback", row.fallback},
          {"verdict", optional_object(row.verdict)},
          {"evidence", array_of(row.evidence)},
          {"samples", columns_of(row.samples)},
          {"time_ms", optional_object(row.time_ms)},
          {"floor_fraction", optional_number(row.floor_fraction)},
          {"gflops", optional_number(row.gflops)},
          {"gbytes_per_s", optional_number(row.gbytes_per_s)},
          {"energy_mj", optional_number(row.energy_mj)},
          {"source_digest", row.source_digest}};
}

Json to_json(const Coordinates& at) {
  Json object = Json::object();
  for (const auto& [name, value] : at) object[name] = value;
  return object;
}

Json to_json(const Proof& proof) {
  return {{"kernel", proof.kernel},
          {"instruction", proof.instruction},
          {"claimed", proof.claimed},
          {"in_loop", proof.in_loop},
          {"found", proof.found ? Json(*proof.found) : Json(nullptr)},
          {"source", proof.source}};
}

Json columns_of(const std::vector<Reading>& samples) {
  Json value = Json::array(), cycles = Json::array(), time = Json::array(), clock = Json::array();
  for (const Reading& sample : samples) {
    value.push_back(positive(sample.value, "samples.value"));
    cycles.push_back(optional_number(sample.cycles));
    time.push_back(optional_number(sample.time_ns));
    clock.push_back(optional_number(sample.clock_mhz));
  }
  return {{"value", std::move(value)},
          {"cycles", std::move(cycles)},
          {"time_ns", std::move(time)},
          {"clock_mhz", std::move(clock)}};
}

Json to_json(const MicrobenchmarkRow& row) {
  return {{"at", to_json(row.at)},
          {"quantity", row.quantity},
          {"unit", row.unit},
          {"larger_is_better", row.larger_is_better},
          {"status", name_of(row.status)},
          {"reason", row.reason},
          {"remark", row.remark},
          {"evidence", array_of(row.evidence)},
          {"proof", array_of(row.proof)},
          {"samples", columns_of(row.samples)},
          {"value", optional_object(row.value)},
          {"cycles", optional_number(row.cycles)},
          {"time_ns", optional_number(row.time_ns)},
          {"clock_mhz", optional_number(row.clock_mhz)},
          {"stop_reason", row.stop_reason}};
}

Json to_json(const Finding& finding) {
  return {{"at", to_json(finding.at)},
          {"quantity", finding.quantity},
          {"unit", finding.unit},
          {"value", finite(finding.value, "findings.value")},
          {"low", finite(finding.low, "findings.low")},
          {"high", finite(finding.high, "findings.high")},
          {"how", finding.how}};
}

Json to_json(const RatioInterval& interval) {
  return {{"ratio", positive(interval.ratio, "speedup.ratio")},
          {"low", positive(interval.low, "speedup.low")},
          {"high", positive(interval.high, "speedup.high")},
          {"coverage", finite(interval.coverage, "speedup.coverage")},
          {"n", interval.n},
          {"resolved", interval.resolved}};
}

Json to_json(const Comparison& comparison) {
  return {{"variant", comparison.variant},          {"role", comparison.role},
          {"against", comparison.against},          {"control", comparison.control},
          {"speedup", to_json(comparison.speedup)}, {"verdict", comparison.verdict}};
}

}  // namespace

std::string_view name_of(RowStatus status) {
  constexpr std::string_view names[] = {"ok", "failed", "skipped", "crashed"};
  return names[static_cast<std::size_t>(status)];
}

std::string_view name_of(Work::Kind kind) {
  constexpr std::string_view names[] = {"fp32", "int32", "tf32", "bf16"};
  return names[static_cast<std::size_t>(kind)];
}

std::string GroupKey::to_string() const {
  return app + ' ' + size.to_string() + ' ' + cache + ' ' + launch;
}

Json to_json(const Parameters& parameters) {
  Json object = Json::object();
  for (const auto& [name, text] : parameters.values()) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    // "007" and "-0" stay text: a number would not read back as the same characters.
    const bool integer =
        error == std::errc{} && end == text.data() + text.size() && std::to_string(number) == text;
    object[name] = integer ? Json(number) : Json(text);
  }
  return object;
}

Json to_json(const GroupKey& key) {
  return {
      {"app", key.app}, {"size", to_json(key.size)}, {"cache", key.cache}, {"launch", key.launch}};
}

Json to_json(const Ceiling& ceiling) {
  Json samples = Json::array();
  for (const double sample : ceiling.samples) {
    samples.push_back(finite(sample, "ceiling.samples"));
  }
  return {{"name", ceiling.name},
          {"unit", ceiling.unit},
          {"method", ceiling.method},
          {"samples", std::move(samples)},
          {"value", finite(ceiling.value, "ceiling.value")}};
}

Json to_json(const Provenance& provenance) {
  return {{"argv", provenance.argv},
          {"study", provenance.study},
          {"settings", object_of(provenance.settings)},
          {"date_utc", provenance.date_utc},
          {"commit", provenance.commit},
          {"dirty", provenance.dirty},
          {"compiler", provenance.compiler},
          {"cuda_compiler", provenance.cuda_compiler},
          {"flags", provenance.flags},
          {"architectures", provenance.architectures},
          {"sources", object_of(provenance.sources)},
          {"harness_digest", provenance.harness_digest},
          {"device", to_json(provenance.device)},
          {"device_state", object_of(provenance.device_state)},
          {"host_name", provenance.host_name.empty() ? Json(nullptr) : Json(provenance.host_name)}};
}

Json to_json(const GroupResult& group) {
  return {{"key", to_json(group.key)},
          {"preset", group.preset},
          {"seed", group.seed},
          {"work", to_json(group.work)},
          {"floor", optional_object(group.floor)},
          {"rounds", group.rounds},
          {"stop_reason", group.stop_reason},
          {"launch_blocked", group.launch_blocked},
          {"rows", array_of(group.rows)},
          {"comparisons", array_of(group.comparisons)},
          {"warnings", group.warnings},
          {"wall_s", finite(group.wall_s, "wall_s")}};
}

Json to_json(const MicrobenchmarkResult& result) {
  return {{"name", result.name},
          {"question", result.question},
          {"method", result.method},
          {"scope", result.scope},
          {"rows", array_of(result.rows)},
          {"findings", array_of(result.findings)},
          {"warnings", result.warnings},
          {"source_digest", result.source_digest},
          {"wall_s", finite(result.wall_s, "wall_s")}};
}

Json to_json(const ResultFile& file) {
  Json json = {{"schema", "amasia-result"},
               {"version", result_schema_version},
               {"provenance", to_json(file.provenance)},
               {"ceilings", array_of(file.ceilings)},
               {"groups", array_of(file.groups)}};
  // An additive member: files of runs without microbenchmarks stay what they were.
  if (!file.microbenchmarks.empty()) json["microbenchmarks"] = array_of(file.microbenchmarks);
  return json;
}

void write_result_file(const std::string& path, const ResultFile& file) {
  write_text_file(path, dump_json(to_json(file)));
}

}  // namespace amasia
