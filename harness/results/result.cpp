#include "harness/results/result.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "harness/results/codec.hpp"
#include "harness/results/envelope.hpp"
#include "harness/results/fields.hpp"
#include "harness/results/provenance.hpp"
#include "harness/statistics/schedule.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

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

/// Takes out what the schedule says by itself.
void leave_out_positions(Json& json, const GroupResult& group) {
  GroupResult scheduled = group;
  for (Row& row : scheduled.rows) {
    for (Sample& sample : row.samples) sample.position = -1;
    for (Sample& sample : row.repeat_samples) sample.position = -1;
  }
  set_positions(scheduled);
  const auto equal = [](const std::vector<Sample>& a, const std::vector<Sample>& b) {
    return std::ranges::equal(
        a, b, [](const Sample& x, const Sample& y) { return x.position == y.position; });
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

std::string text_of(const KernelEvidence& kernel) { return compact(written(kernel)); }

/// Where the rows of a group are in each round.
class Places {
 public:
  explicit Places(const GroupResult& group) {
    bool any_repeat = false;
    for (std::size_t r = 0; r < group.rows.size(); ++r) {
      const Row& row = group.rows[r];
      if (row.samples.empty()) continue;
      rows_.push_back(static_cast<int>(r));
      if (runs_twice(row)) repeated_.push_back(static_cast<int>(r));
      any_repeat = any_repeat || !row.repeat_samples.empty();
    }
    if (!any_repeat) repeated_.clear();
  }

  /// The `nth` place of the row in the round; -1 where it has none.
  int place(int row, int round, int nth) {
    if (round < 0) return -1;
    const auto [found, is_new] = orders_.try_emplace(round);
    if (is_new) found->second = rows_of_round(rows_, repeated_, round);
    const std::vector<int>& order = found->second;
    auto at = std::ranges::find(order, row);
    for (; nth > 0 && at != order.end(); --nth) at = std::find(at + 1, order.end(), row);
    return at == order.end() ? -1 : static_cast<int>(at - order.begin());
  }

 private:
  std::vector<int> rows_, repeated_;
  std::map<int, std::vector<int>> orders_;
};

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

Json to_json(const Parameters& parameters) { return written(parameters); }
Json to_json(const GroupKey& key) { return written(key); }
Json to_json(const Ceiling& ceiling) { return written(ceiling); }
Json to_json(const Verdict& verdict) { return written(verdict); }
Json to_json(const Provenance& provenance) { return written(provenance); }
Json to_json(const MicrobenchmarkResult& result) { return written(result); }

Json to_json(const GroupResult& group) {
  Json json = written(group);
  leave_out_positions(json, group);
  return json;
}

Json to_json(const ResultFile& file) {
  Json json = written(file);
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
        for (Json& kernel : row["evidence"]) kernel = indices.at(compact(kernel));
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

bool runs_twice(const Row& row) {
  const bool baseline = row.variant.ends_with("/baseline") && row.role != Role::matched;
  return !baseline && row.role != Role::candidate;
}

void set_positions(GroupResult& group) {
  Places places(group);
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    const auto set = [&](std::vector<Sample>& samples, int nth) {
      if (!samples.empty() && samples.front().position >= 0) return;
      for (Sample& sample : samples) {
        sample.position = places.place(static_cast<int>(r), sample.round, nth);
      }
    };
    set(group.rows[r].samples, 0);
    set(group.rows[r].repeat_samples, 1);
  }
}

}  // namespace amasia
