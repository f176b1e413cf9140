// Results from JSON (result.hpp says how).
#include "harness/results/claim.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/read.hpp"
#include "harness/results/recomputed.hpp"
#include "harness/results/result.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
T from(const Json& json, int version) {
  T value;
  read(At(json, version), any_value, value);
  return value;
}

/// What later versions have and this one does not say, from what it says.
void bring_up_to_date(GroupResult& group, int version) {
  if (version >= 2) return;
  for (Comparison& comparison : group.comparisons) {
    comparison.claim = claim_of(group.comparisons, comparison);
  }
}

void bring_up_to_date(Provenance& provenance, int version) {
  provenance.digests = version >= 2 ? DigestKind::by_content : DigestKind::by_path;
}

}  // namespace

int result_version_of(const Json& json) {
  const At at(json, result_schema_version);
  if (at.member("schema").text() != "amasia-result") {
    at.member("schema").expected("\"amasia-result\"");
  }
  const At version = at.member("version");
  const auto number = version.integer(0, INT64_MAX);
  if (number < 1 || number > result_schema_version) {
    version.expected("1 to " + std::to_string(result_schema_version));
  }
  return static_cast<int>(number);
}

GroupResult group_from_json(const Json& json, int version) {
  auto group = from<GroupResult>(json, version);
  bring_up_to_date(group, version);
  return group;
}

Provenance provenance_from_json(const Json& json, int version) {
  auto provenance = from<Provenance>(json, version);
  bring_up_to_date(provenance, version);
  return provenance;
}

Ceiling ceiling_from_json(const Json& json) { return from<Ceiling>(json, result_schema_version); }
MicrobenchmarkResult microbenchmark_from_json(const Json& json) {
  return from<MicrobenchmarkResult>(json, result_schema_version);
}
GroupKey group_key_from_json(const Json& json) {
  return from<GroupKey>(json, result_schema_version);
}
Parameters parameters_from_json(const Json& json) {
  return from<Parameters>(json, result_schema_version);
}

ResultFile result_from_json(const Json& json) {
  const int version = result_version_of(json);
  auto file = from<ResultFile>(json, version);
  bring_up_to_date(file.provenance, version);
  for (GroupResult& group : file.groups) bring_up_to_date(group, version);
  check_summaries(file);
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
