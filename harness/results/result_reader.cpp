// Results from JSON (result.hpp says how): every member is checked, and a wrong one named by its
// path.
#include "harness/results/result.hpp"

#include <cmath>
#include <limits>

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

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

Work::Kind kind_from(const At& at) {
  for (const Work::Kind kind :
       {Work::Kind::fp32, Work::Kind::int32, Work::Kind::tf32, Work::Kind::bf16}) {
    if (at.text() == name_of(kind)) return kind;
  }
  at.expected("fp32, int32, tf32 or bf16");
}

Work work_from(const At& at) {
  Work work;
  work.operations = at["operations"].number(0);
  work.kind = kind_from(at["kind"]);
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

}  // namespace

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

ResultFile read_result_file(const std::string& path) {
  const Json json = read_json_file(path);
  try {
    return result_from_json(json);
  } catch (const ResultError& error) {
    throw ResultError(path + ": " + error.what());
  }
}

}  // namespace amasia
