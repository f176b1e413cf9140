#include "harness/result.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "harness/file.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 4> work_kinds{"fp32", "int32", "tf32", "bf16"};

// ---- Writing ------------------------------------------------------------------------------------

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

// ---- Reading ------------------------------------------------------------------------------------

/// A value of a document together with its path in it.
class At {
 public:
  At(const Json& value, std::string path) : value_(value), path_(std::move(path)) {}

  [[noreturn]] void expected(const std::string& what) const {
    throw ResultError((path_.empty() ? std::string("the document") : path_) + ": expected " + what +
                      ", found " + found());
  }

  At operator[](const char* name) const {
    if (!value_.is_object()) expected("an object");
    const auto member = value_.find(name);
    if (member == value_.end()) {
      throw ResultError(path_of(name) + ": is missing");
    }
    return {*member, path_of(name)};
  }

  /// Absent and null are the same.
  std::optional<At> optional(const char* name) const {
    if (!value_.is_object()) expected("an object");
    const auto member = value_.find(name);
    if (member == value_.end() || member->is_null()) return std::nullopt;
    return At(*member, path_of(name));
  }

  const std::string& text() const {
    if (!value_.is_string()) expected("text");
    return value_.get_ref<const std::string&>();
  }

  bool boolean() const {
    if (!value_.is_boolean()) expected("true or false");
    return value_.get<bool>();
  }

  double number(double least = std::numeric_limits<double>::lowest()) const {
    if (!value_.is_number()) expected("a number");
    const double number = value_.get<double>();
    if (!std::isfinite(number) || number < least) expected("a finite number in range");
    return number;
  }

  double positive() const {
    const double value = number();
    if (!(value > 0)) expected("a positive number");
    return value;
  }

  /// A number, or null for one that was not finite when it was written.
  double number_or_infinity() const {
    return value_.is_null() ? std::numeric_limits<double>::infinity() : number();
  }

  template <class T = int>
  T integer(T least = 0) const {
    if (!value_.is_number_integer()) expected("an integer");
    if (value_.is_number_unsigned()) {
      const auto number = value_.get<std::uint64_t>();
      if (!std::in_range<T>(number) || static_cast<T>(number) < least) expected("one in range");
      return static_cast<T>(number);
    }
    const auto number = value_.get<std::int64_t>();
    if (!std::in_range<T>(number) || static_cast<T>(number) < least) expected("one in range");
    return static_cast<T>(number);
  }

  template <class Read>
  auto each(const Read& read) const {
    if (!value_.is_array()) expected("an array");
    std::vector<decltype(read(*this))> items;
    items.reserve(value_.size());
    for (std::size_t i = 0; i < value_.size(); ++i) {
      items.push_back(read(At(value_[i], path_ + '[' + std::to_string(i) + ']')));
    }
    return items;
  }

  template <class Read>
  void each_member(const Read& read) const {
    if (!value_.is_object()) expected("an object");
    for (const auto& [name, value] : value_.items()) read(name, At(value, path_of(name)));
  }

  const Json& json() const { return value_; }

 private:
  std::string path_of(const std::string& name) const {
    return path_.empty() ? name : path_ + '.' + name;
  }

  std::string found() const {
    if (value_.is_object() || value_.is_array()) return std::string("an ") + value_.type_name();
    constexpr std::size_t most = 40;
    const std::string text = value_.dump(-1, ' ', false, Json::error_handler_t::replace);
    return text.size() <= most ? text : text.substr(0, most) + "...";
  }

  const Json& value_;
  std::string path_;
};

std::map<std::string, std::string> texts_from(const At& at) {
  std::map<std::string, std::string> texts;
  at.each_member([&](const std::string& name, const At& value) { texts[name] = value.text(); });
  return texts;
}

std::vector<std::string> lines_from(const At& at) {
  return at.each([](const At& item) { return item.text(); });
}

std::string text_or_empty(const std::optional<At>& at) { return at ? at->text() : std::string(); }

std::optional<double> optional_number_from(const std::optional<At>& at) {
  return at ? std::optional(at->number()) : std::nullopt;
}

Device device_from(const At& at) {
  Device device;
  device.index = at["index"].integer();
  device.name = at["name"].text();
  device.compute_capability = at["compute_capability"].integer();
  device.sm_count = at["sm_count"].integer();
  device.memory_bytes = at["memory_bytes"].integer<std::size_t>();
  if (const auto free = at.optional("free_bytes")) device.free_bytes = free->integer<std::size_t>();
  device.l2_bytes = at["l2_bytes"].integer<std::size_t>();
  device.shared_per_sm = at["shared_per_sm"].integer<std::size_t>();
  device.shared_per_block = at["shared_per_block"].integer<std::size_t>();
  if (const auto reserved = at.optional("shared_reserved")) {
    device.shared_reserved = reserved->integer<std::size_t>();
  }
  device.registers_per_sm = at["registers_per_sm"].integer();
  device.max_threads_per_sm = at["max_threads_per_sm"].integer();
  device.max_clock_mhz = at["max_clock_mhz"].integer();
  device.memory_clock_mhz = at["memory_clock_mhz"].integer();
  device.memory_bus_bits = at["memory_bus_bits"].integer();
  device.ecc = at["ecc"].boolean();
  if (const auto launch = at.optional("cooperative_launch")) {
    device.cooperative_launch = launch->boolean();
  }
  device.driver_version = at["driver_version"].integer();
  device.runtime_version = at["runtime_version"].integer();
  device.uuid_hash = at["uuid_hash"].text();
  return device;
}

Provenance provenance_from(const At& at) {
  Provenance provenance;
  provenance.argv = lines_from(at["argv"]);
  provenance.study = at["study"].text();
  provenance.settings = texts_from(at["settings"]);
  provenance.date_utc = at["date_utc"].text();
  provenance.commit = at["commit"].text();
  provenance.dirty = at["dirty"].boolean();
  provenance.compiler = at["compiler"].text();
  provenance.cuda_compiler = at["cuda_compiler"].text();
  provenance.flags = at["flags"].text();
  provenance.architectures = at["architectures"].text();
  provenance.sources = texts_from(at["sources"]);
  provenance.harness_digest = at["harness_digest"].text();
  provenance.device = device_from(at["device"]);
  provenance.device_state = texts_from(at["device_state"]);
  provenance.host_name = text_or_empty(at.optional("host_name"));
  return provenance;
}

Ceiling ceiling_from(const At& at) {
  Ceiling ceiling;
  ceiling.name = at["name"].text();
  ceiling.unit = at["unit"].text();
  ceiling.method = at["method"].text();
  ceiling.samples = at["samples"].each([](const At& sample) { return sample.number(); });
  ceiling.value = at["value"].number();
  return ceiling;
}

Parameters parameters_from(const At& at) {
  std::vector<std::pair<std::string, std::string>> values;
  at.each_member([&](const std::string& name, const At& value) {
    if (value.json().is_number()) {
      values.emplace_back(name, std::to_string(value.integer<std::int64_t>(INT64_MIN)));
    } else if (value.json().is_string()) {
      values.emplace_back(name, value.text());
    } else {
      value.expected("an integer or text");
    }
  });
  return Parameters::from_values(std::move(values));
}

GroupKey group_key_from(const At& at) {
  return {at["app"].text(), parameters_from(at["size"]), at["cache"].text(), at["launch"].text()};
}

Work work_from(const At& at) {
  Work work;
  work.operations = at["operations"].number(0);
  const At kind = at["kind"];
  const auto known = std::find(work_kinds.begin(), work_kinds.end(), kind.text());
  if (known == work_kinds.end()) kind.expected("fp32, int32, tf32 or bf16");
  work.kind = static_cast<Work::Kind>(known - work_kinds.begin());
  work.bytes_read = at["bytes_read"].number(0);
  work.bytes_written = at["bytes_written"].number(0);
  work.dependent_operations = at["dependent_operations"].number(0);
  return work;
}

Floor floor_from(const At& at) {
  return {at["bytes_ms"].number(0), at["operations_ms"].number(0), at["dependency_ms"].number(0)};
}

Verdict verdict_from(const At& at) {
  Verdict verdict;
  verdict.passed = at["passed"].boolean();
  verdict.norm = at["norm"].text();
  verdict.error = at["error"].number_or_infinity();
  verdict.bound = at["bound"].number_or_infinity();
  verdict.checked = at["checked"].integer<std::int64_t>();
  verdict.mismatches = at["mismatches"].integer<std::int64_t>();
  if (const auto first = at.optional("first_mismatches")) {
    verdict.first_mismatches = lines_from(*first);
  }
  return verdict;
}

KernelEvidence evidence_from(const At& at) {
  KernelEvidence evidence;
  evidence.kernel = at["kernel"].text();
  evidence.registers = at["registers"].integer();
  evidence.local_bytes = at["local_bytes"].integer<std::size_t>();
  evidence.static_shared_bytes = at["static_shared_bytes"].integer<std::size_t>();
  evidence.dynamic_shared_bytes = at["dynamic_shared_bytes"].integer<std::size_t>();
  evidence.threads = at["threads"].integer();
  evidence.blocks_per_sm = at["blocks_per_sm"].integer();
  evidence.cluster_blocks = at["cluster_blocks"].integer(1);
  evidence.bytes_in_flight_per_sm = at["bytes_in_flight_per_sm"].integer<std::size_t>();
  evidence.binary_version = at["binary_version"].integer();
  evidence.source = at["source"].text();
  at["instructions"].each_member([&](const std::string& opcode, const At& count) {
    evidence.instructions[opcode] = count.integer();
  });
  return evidence;
}

std::vector<Sample> samples_from(const At& at) {
  const auto round = at["round"].each([](const At& item) { return item.integer(); });
  const auto position = at["position"].each([](const At& item) { return item.integer(); });
  const auto time = at["time_ms"].each([](const At& item) { return item.positive(); });
  const auto clock = at["sm_clock_mhz"].each([](const At& item) {
    return item.json().is_null() ? std::nullopt : std::optional(item.positive());
  });
  // Not vector<bool>, whose items are no booleans.
  const auto throttled = at["throttled"].each([](const At& item) { return int{item.boolean()}; });
  const std::size_t n = time.size();
  if (round.size() != n || position.size() != n || clock.size() != n || throttled.size() != n) {
    at.expected("columns of equal length");
  }
  std::vector<Sample> samples(n);
  for (std::size_t i = 0; i < n; ++i) {
    samples[i] = {round[i], position[i], time[i], clock[i], throttled[i] != 0};
  }
  return samples;
}

MedianInterval median_interval_from(const At& at) {
  MedianInterval interval;
  interval.median = at["median"].positive();
  interval.low = at["low"].positive();
  interval.high = at["high"].positive();
  interval.coverage = at["coverage"].number(0);
  interval.n = at["n"].integer(1);
  interval.minimum = at["minimum"].positive();
  interval.maximum = at["maximum"].positive();
  return interval;
}

RowStatus status_from(const At& at) {
  for (const RowStatus status :
       {RowStatus::ok, RowStatus::failed, RowStatus::skipped, RowStatus::crashed}) {
    if (at.text() == name_of(status)) return status;
  }
  at.expected("ok, failed, skipped or crashed");
}

Row row_from(const At& at) {
  Row row;
  row.variant = at["variant"].text();
  row.role = at["role"].text();
  row.repeat = at["repeat"].integer();
  row.config = at["config"].text();
  row.config_source = at["config_source"].text();
  at["geometry"].each_member([&](const std::string& name, const At& value) {
    row.geometry.emplace_back(name, value.integer<std::int64_t>(INT64_MIN));
  });
  row.status = status_from(at["status"]);
  row.reason = text_or_empty(at.optional("reason"));
  row.fallback = text_or_empty(at.optional("fallback"));
  if (const auto verdict = at.optional("verdict")) row.verdict = verdict_from(*verdict);
  if (const auto evidence = at.optional("evidence")) row.evidence = evidence->each(evidence_from);
  row.samples = samples_from(at["samples"]);
  if (const auto time = at.optional("time_ms")) row.time_ms = median_interval_from(*time);
  row.floor_fraction = optional_number_from(at.optional("floor_fraction"));
  row.gflops = optional_number_from(at.optional("gflops"));
  row.gbytes_per_s = optional_number_from(at.optional("gbytes_per_s"));
  row.energy_mj = optional_number_from(at.optional("energy_mj"));
  row.source_digest = text_or_empty(at.optional("source_digest"));
  return row;
}

Comparison comparison_from(const At& at) {
  Comparison comparison;
  comparison.variant = at["variant"].text();
  comparison.role = at["role"].text();
  comparison.against = at["against"].text();
  comparison.control = at["control"].boolean();
  const At speedup = at["speedup"];
  comparison.speedup.ratio = speedup["ratio"].positive();
  comparison.speedup.low = speedup["low"].positive();
  comparison.speedup.high = speedup["high"].positive();
  comparison.speedup.coverage = speedup["coverage"].number(0);
  comparison.speedup.n = speedup["n"].integer();
  comparison.speedup.resolved = speedup["resolved"].boolean();
  comparison.verdict = at["verdict"].text();
  return comparison;
}

GroupResult group_from(const At& at) {
  GroupResult group;
  group.key = group_key_from(at["key"]);
  group.preset = at["preset"].text();
  group.seed = at["seed"].integer<std::uint64_t>();
  group.work = work_from(at["work"]);
  if (const auto floor = at.optional("floor")) group.floor = floor_from(*floor);
  group.rounds = at["rounds"].integer();
  group.stop_reason = at["stop_reason"].text();
  group.launch_blocked = at["launch_blocked"].boolean();
  group.rows = at["rows"].each(row_from);
  group.comparisons = at["comparisons"].each(comparison_from);
  group.warnings = lines_from(at["warnings"]);
  group.wall_s = at["wall_s"].number(0);
  return group;
}

Coordinates coordinates_from(const At& at) {
  Coordinates coordinates;
  at.each_member([&](const std::string& name, const At& value) {
    coordinates.emplace_back(name, value.text());
  });
  return coordinates;
}

Proof proof_from(const At& at) {
  Proof proof;
  proof.kernel = at["kernel"].text();
  proof.instruction = at["instruction"].text();
  proof.claimed = at["claimed"].integer();
  proof.in_loop = at["in_loop"].boolean();
  if (const auto found = at.optional("found")) proof.found = found->integer();
  proof.source = at["source"].text();
  return proof;
}

std::vector<Reading> readings_from(const At& at) {
  const auto number_or_nothing = [](const At& item) {
    return item.json().is_null() ? std::nullopt : std::optional(item.number());
  };
  const auto value = at["value"].each([](const At& item) { return item.positive(); });
  const auto cycles = at["cycles"].each(number_or_nothing);
  const auto time = at["time_ns"].each(number_or_nothing);
  const auto clock = at["clock_mhz"].each(number_or_nothing);
  const std::size_t n = value.size();
  if (cycles.size() != n || time.size() != n || clock.size() != n) {
    at.expected("columns of equal length");
  }
  std::vector<Reading> readings(n);
  for (std::size_t i = 0; i < n; ++i) readings[i] = {value[i], cycles[i], time[i], clock[i]};
  return readings;
}

MicrobenchmarkRow microbenchmark_row_from(const At& at) {
  MicrobenchmarkRow row;
  row.at = coordinates_from(at["at"]);
  row.quantity = at["quantity"].text();
  row.unit = at["unit"].text();
  row.larger_is_better = at["larger_is_better"].boolean();
  row.status = status_from(at["status"]);
  row.reason = text_or_empty(at.optional("reason"));
  row.remark = text_or_empty(at.optional("remark"));
  if (const auto evidence = at.optional("evidence")) row.evidence = evidence->each(evidence_from);
  if (const auto proof = at.optional("proof")) row.proof = proof->each(proof_from);
  row.samples = readings_from(at["samples"]);
  if (const auto value = at.optional("value")) row.value = median_interval_from(*value);
  row.cycles = optional_number_from(at.optional("cycles"));
  row.time_ns = optional_number_from(at.optional("time_ns"));
  row.clock_mhz = optional_number_from(at.optional("clock_mhz"));
  row.stop_reason = text_or_empty(at.optional("stop_reason"));
  return row;
}

Finding finding_from(const At& at) {
  Finding finding;
  finding.at = coordinates_from(at["at"]);
  finding.quantity = at["quantity"].text();
  finding.unit = at["unit"].text();
  finding.value = at["value"].number();
  finding.low = at["low"].number();
  finding.high = at["high"].number();
  finding.how = at["how"].text();
  return finding;
}

MicrobenchmarkResult microbenchmark_from(const At& at) {
  MicrobenchmarkResult result;
  result.name = at["name"].text();
  result.question = at["question"].text();
  result.method = at["method"].text();
  result.scope = at["scope"].text();
  result.rows = at["rows"].each(microbenchmark_row_from);
  result.findings = at["findings"].each(finding_from);
  result.warnings = lines_from(at["warnings"]);
  result.source_digest = text_or_empty(at.optional("source_digest"));
  result.wall_s = at["wall_s"].number(0);
  return result;
}

// ---- Text ---------------------------------------------------------------------------------------

std::string plain(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_pretty(std::string& text, const Json& value, std::size_t depth) {
  const bool plain_array =
      value.is_array() && std::none_of(value.begin(), value.end(),
                                       [](const Json& item) { return item.is_structured(); });
  if (!value.is_structured() || value.empty() || plain_array) {
    text += plain(value);
    return;
  }
  const auto new_line = [&](std::size_t indent) { text.append(1, '\n').append(indent, ' '); };
  const char* separator = "";
  text += value.is_object() ? '{' : '[';
  for (const auto& [name, item] : value.items()) {
    text += separator;
    separator = ",";
    new_line(depth + 1);
    if (value.is_object()) text += plain(name) + ": ";
    append_pretty(text, item, depth + 1);
  }
  new_line(depth);
  text += value.is_object() ? '}' : ']';
}

/// The message of the parser without its prefix "[json.exception...] parse error at line .., column
/// ..: ".
std::string reason_of(const nlohmann::json::exception& error) {
  const std::string text = error.what();
  const std::size_t prefix = text.find("] ");
  if (prefix == std::string::npos) return text;
  const std::size_t column = text.find("column ", prefix);
  const std::size_t colon = column == std::string::npos ? column : text.find(": ", column);
  return text.substr((colon == std::string::npos ? prefix : colon) + 2);
}

}  // namespace

std::string_view name_of(RowStatus status) {
  constexpr std::string_view names[] = {"ok", "failed", "skipped", "crashed"};
  return names[static_cast<std::size_t>(status)];
}

std::string_view name_of(Work::Kind kind) { return work_kinds[static_cast<std::size_t>(kind)]; }

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

GroupResult group_from_json(const Json& json) { return group_from(At(json, "")); }
Ceiling ceiling_from_json(const Json& json) { return ceiling_from(At(json, "")); }
MicrobenchmarkResult microbenchmark_from_json(const Json& json) {
  return microbenchmark_from(At(json, ""));
}
Provenance provenance_from_json(const Json& json) { return provenance_from(At(json, "")); }
GroupKey group_key_from_json(const Json& json) { return group_key_from(At(json, "")); }
Parameters parameters_from_json(const Json& json) { return parameters_from(At(json, "")); }

ResultFile result_from_json(const Json& json) {
  const At at(json, "");
  if (at["schema"].text() != "amasia-result") at["schema"].expected("\"amasia-result\"");
  if (at["version"].integer() != result_schema_version) {
    at["version"].expected(std::to_string(result_schema_version));
  }
  ResultFile file;
  file.provenance = provenance_from(at["provenance"]);
  file.ceilings = at["ceilings"].each(ceiling_from);
  file.groups = at["groups"].each(group_from);
  if (const auto micro = at.optional("microbenchmarks")) {
    file.microbenchmarks = micro->each(microbenchmark_from);
  }
  return file;
}

std::string dump_json(const Json& json) {
  std::string text;
  append_pretty(text, json, 0);
  return text + '\n';
}

Json parse_json(const std::string& text, const std::string& name) {
  const auto refuse = [&](std::size_t at, const std::string& reason) {
    const std::string_view before = std::string_view(text).substr(0, at);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t line_end = before.rfind('\n');  // of the line before
    const std::size_t column = line_end == std::string_view::npos ? at + 1 : at - line_end;
    throw ResultError(name + ':' + std::to_string(line) + ':' + std::to_string(column) + ": " +
                      reason);
  };
  // The parser would take a zero byte, as a crash leaves them, for the end of the text.
  const std::size_t zero = text.find('\0');
  if (zero != std::string::npos) refuse(zero, "expected JSON, found a zero byte");
  try {
    return Json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    refuse(std::min(error.byte == 0 ? 0 : error.byte - 1, text.size()), reason_of(error));
  } catch (const nlohmann::json::exception& error) {  // a number that no double can hold
    throw ResultError(name + ": " + reason_of(error));
  }
  return {};  // not reached: refuse() throws
}

Json read_json_file(const std::string& path) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30;
  if (std::filesystem::is_directory(path)) throw ResultError(path + ": is a directory");
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ResultError(path + ": cannot be read: " + system_reason());
  std::string text;
  char buffer[1 << 16];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (text.size() > most_bytes) throw ResultError(path + ": is larger than 1 GiB");
  }
  if (file.bad()) throw ResultError(path + ": cannot be read: " + system_reason());
  return parse_json(text, path);
}

ResultFile read_result_file(const std::string& path) {
  const Json json = read_json_file(path);
  try {
    return result_from_json(json);
  } catch (const ResultError& error) {
    throw ResultError(path + ": " + error.what());
  }
}

void write_text_file(const std::string& path, const std::string& text) {
  const std::string unfinished = path + ".tmp";
  const auto fail = [&](const char* what) {
    const std::string reason = system_reason();
    ::unlink(unfinished.c_str());
    throw ResultError(path + ": cannot be " + what + ": " + reason);
  };
  OpenFile file(unfinished, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.is_open() || !file.write_durably(text) || !file.close()) fail("written");
  if (::rename(unfinished.c_str(), path.c_str()) != 0) fail("replaced");
  sync_parent_directory(path);
}

void write_result_file(const std::string& path, const ResultFile& file) {
  write_text_file(path, dump_json(to_json(file)));
}

}  // namespace amasia
