// Results from JSON (result.hpp says how).
#include <algorithm>

#include "harness/results/envelope.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/positions.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/read.hpp"
#include "harness/results/result.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
T from(const Json& json) {
  T value;
  read(At(json), any_value, value);
  return value;
}

/// Puts kernels in the place of their indices. What is not as it should be is left for read().
void put_in_kernels(Json& file) {
  const Json kernels = file.is_object() && file.contains("kernels") ? file["kernels"] : Json();
  const auto put_in = [&](Json& row) {
    if (!row.is_object() || !row.contains("evidence")) return;
    for (Json& kernel : row["evidence"]) {
      const bool known = kernel.is_number_unsigned() && kernel.get<std::size_t>() < kernels.size();
      if (known && kernels.is_array()) kernel = kernels[kernel.get<std::size_t>()];
    }
  };
  for (const char* const list : {"groups", "microbenchmarks"}) {
    if (!file.is_object() || !file.contains(list)) continue;
    for (Json& part : file[list]) {
      if (!part.is_object() || !part.contains("rows")) continue;
      for (Json& row : part["rows"]) put_in(row);
    }
  }
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

}  // namespace

GroupResult group_from_json(const Json& json) {
  auto group = from<GroupResult>(json);
  set_positions(group);
  return group;
}

Provenance provenance_from_json(const Json& json) {
  auto provenance = from<Provenance>(json);
  check_dates(provenance, "");
  return provenance;
}

Ceiling ceiling_from_json(const Json& json) { return from<Ceiling>(json); }
Verdict verdict_from_json(const Json& json) { return from<Verdict>(json); }
MicrobenchmarkResult microbenchmark_from_json(const Json& json) {
  return from<MicrobenchmarkResult>(json);
}
GroupKey group_key_from_json(const Json& json) { return from<GroupKey>(json); }
Parameters parameters_from_json(const Json& json) { return from<Parameters>(json); }

ResultFile unchecked_from_json(Json json) {
  put_in_kernels(json);
  auto file = from<ResultFile>(json);
  check_dates(file.provenance, "provenance.");
  for (GroupResult& group : file.groups) set_positions(group);
  return file;
}

ResultFile read_beginning(const std::string& path) {
  std::string text = read_first_lines(path, 3);
  text.erase(std::min(text.size(), text.find_last_not_of(",\n") + 1));
  const Json json = parse_json(text + '}', path);
  check_kind(json, result_schema_name, result_schema_version);
  ResultFile file;
  read(At(json).member("ceilings"), any_value, file.ceilings);
  read(At(json).member("provenance"), any_value, file.provenance);
  return file;
}

}  // namespace amasia
