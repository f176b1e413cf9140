// Results to JSON (result.hpp says how).
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "harness/results/envelope.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/positions.hpp"
#include "harness/results/result.hpp"
#include "harness/results/written.hpp"
#include "harness/text/number.hpp"

namespace amasia {

using Json = nlohmann::ordered_json;

std::string GroupKey::to_string() const {
  return app + ' ' + size.to_string() + ' ' + std::string(word_of(cache)) + ' ' +
         std::string(word_of(launch));
}

double detail::shortest_decimal(float value) {
  const std::string decimal = fmt::format("{}", value);
  return number_from<double>(decimal).value();
}

Json written(const Parameters& value, const Rules&, const Place&) {
  Json object = Json::object();
  for (const auto& [name, text] : value.values()) {
    const auto number = number_from<std::int64_t>(text);
    // "007" and "-0" stay text: a number would not read back as the same characters.
    const bool integer = number && std::to_string(*number) == text;
    object[name] = integer ? Json(*number) : Json(text);
  }
  return object;
}

namespace {

/// Takes out what the schedule says by itself.
void leave_out_positions(Json& json, const GroupResult& group) {
  GroupResult scheduled = group;
  for (Row& row : scheduled.rows) {
    for (Sample& sample : row.samples) sample.position = -1;
    for (Sample& sample : row.repeat_samples) sample.position = -1;
  }
  set_positions(scheduled);
  const auto equal = [](const std::vector<Sample>& a, const std::vector<Sample>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Sample& x, const Sample& y) { return x.position == y.position; });
  };
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    const Row &row = group.rows[r], &by_schedule = scheduled.rows[r];
    Json& written_row = json["rows"][r];
    if (equal(row.samples, by_schedule.samples)) written_row["samples"].erase("position");
    if (!row.repeat_samples.empty() && equal(row.repeat_samples, by_schedule.repeat_samples)) {
      written_row["repeat_samples"].erase("position");
    }
  }
}

std::string text_of(const KernelEvidence& kernel) {
  return written(kernel, any_value, Place()).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::vector<KernelEvidence> ResultFile::kernels() const {
  std::vector<KernelEvidence> kernels;
  std::set<std::string> seen;
  const auto add = [&](const auto& rows) {
    for (const auto& row : rows) {
      for (const KernelEvidence& kernel : row.evidence) {
        if (seen.insert(text_of(kernel)).second) kernels.push_back(kernel);
      }
    }
  };
  for (const GroupResult& group : groups) add(group.rows);
  for (const MicrobenchmarkResult& microbenchmark : microbenchmarks) add(microbenchmark.rows);
  return kernels;
}

Json to_json(const Parameters& parameters) { return written(parameters, any_value, Place()); }
Json to_json(const GroupKey& key) { return written(key, any_value, Place()); }
Json to_json(const Ceiling& ceiling) { return written(ceiling, any_value, Place()); }
Json to_json(const Verdict& verdict) { return written(verdict, any_value, Place()); }
Json to_json(const Provenance& provenance) { return written(provenance, any_value, Place()); }
Json to_json(const MicrobenchmarkResult& result) { return written(result, any_value, Place()); }

Json to_json(const GroupResult& group) {
  Json json = written(group, any_value, Place());
  leave_out_positions(json, group);
  return json;
}

Json to_json(const ResultFile& file) {
  Json json = written(file, any_value, Place());
  for (std::size_t g = 0; g < file.groups.size(); ++g) {
    leave_out_positions(json["groups"][g], file.groups[g]);
  }
  std::map<std::string, std::size_t> indices;
  for (const KernelEvidence& kernel : file.kernels()) {
    indices.emplace(text_of(kernel), indices.size());
  }
  for (const char* const list : {"groups", "microbenchmarks"}) {
    if (!json.contains(list)) continue;
    for (Json& part : json[list]) {
      for (Json& row : part["rows"]) {
        if (!row.contains("evidence")) continue;
        for (Json& kernel : row["evidence"]) {
          kernel = indices.at(kernel.dump(-1, ' ', false, Json::error_handler_t::replace));
        }
      }
    }
  }
  return json;
}

std::string to_text(const ResultFile& file) {
  return sealed(result_schema_name, result_schema_version, to_json(file));
}

void write_result_file(const std::string& path, const ResultFile& file) {
  write_packed_file(path, to_text(file));
}

}  // namespace amasia
