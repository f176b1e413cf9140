// Results from JSON (result.hpp says how).
#include "harness/results/claim.hpp"
#include "harness/results/content_digest.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/read.hpp"
#include "harness/results/recomputed.hpp"
#include "harness/results/result.hpp"
#include "harness/results/summary.hpp"

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

/// A date that nobody told is empty.
void check_date(const std::string& date, const std::string& place) {
  if (date.empty() || is_date(date)) return;
  throw ResultError(place + "date_utc: expected a date, such as 2026-11-21T09:30:00Z, found \"" +
                    date.substr(0, 40) + '"');
}

void check_dates(const Provenance& provenance, const std::string& place) {
  check_date(provenance.date_utc, place);
  for (std::size_t s = 0; s < provenance.sessions.size(); ++s) {
    check_date(provenance.sessions[s].date_utc, place + "sessions[" + std::to_string(s) + "].");
  }
}

void check_digest(const At& document) {
  const At stored = document.member(digest_member);
  const std::string digest = content_digest(document.json());
  if (stored.text() != digest) {
    throw ResultError(std::string(digest_member) + ": expected " + digest +
                      ", as the content has it, found " + stored.text().substr(0, 80) +
                      ": the file was changed or damaged after it was written; get it from where "
                      "it came from again, or measure again");
  }
}

}  // namespace

int result_version_of(const Json& json) {
  const At at(json, result_schema_version);
  if (at.member("schema").text() != "amasia-result") {
    at.member("schema").expected("\"amasia-result\"");
  }
  return schema_version_at(at.member("version"), result_schema_version);
}

GroupResult group_from_json(const Json& json, int version) {
  auto group = from<GroupResult>(json, version);
  bring_up_to_date(group, version);
  return group;
}

Provenance provenance_from_json(const Json& json, int version) {
  auto provenance = from<Provenance>(json, version);
  bring_up_to_date(provenance, version);
  check_dates(provenance, "");
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
  file.version = version;
  check_dates(file.provenance, "provenance.");
  check_summaries(file);
  // Last: where the content itself shows what was changed, that is said.
  if (has_content_digest(version)) check_digest(At(json, version));
  for (GroupResult& group : file.groups) judge_anew(group, asked_confidence(file.provenance));
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
