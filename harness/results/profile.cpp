#include "harness/results/profile.hpp"

#include <algorithm>

#include "harness/results/content_digest.hpp"
#include "harness/results/profile_fields.hpp"
#include "harness/results/read.hpp"
#include "harness/results/schema_of.hpp"
#include "harness/results/written.hpp"
#include "harness/text/table.hpp"

namespace amasia {
namespace {

/// Visits the counters among the fields, which a list of stall reasons is not.
template <class Visit>
void for_each_counter(const Visit& visit) {
  for_each_field<Counters>([&](const auto& field) {
    if constexpr (requires { field.metrics; }) visit(field);
  });
}

std::vector<std::string> alternatives(std::string_view metrics) {
  std::vector<std::string> list;
  while (!metrics.empty()) {
    const std::size_t end = std::min(metrics.find(' '), metrics.size());
    list.emplace_back(metrics.substr(0, end));
    metrics.remove_prefix(std::min(end + 1, metrics.size()));
  }
  return list;
}

std::string metric_of(const StallReason& reason) {
  return std::string(stall_metric_begin).append(reason.name).append(stall_metric_end);
}

void check_profile_digest(const At& document) {
  const At stored = document.member(digest_member);
  if (stored.text() != content_digest(document.json())) {
    stored.expected(
        "the digest of the content: the file was changed or damaged after it was "
        "written");
  }
}

}  // namespace

Counters counters_of(const std::map<std::string, double>& metrics) {
  Counters counters;
  for_each_counter([&](const CounterField& field) {
    for (const std::string& name : alternatives(field.metrics)) {
      const auto found = metrics.find(name);
      if (found == metrics.end()) continue;
      // What is the difference of two counts may fall below nothing.
      counters.*field.member = std::max(0.0, found->second * field.factor);
      return;
    }
  });
  double resident = 0;
  for (const StallReason& reason : stall_reasons) {
    const auto found = metrics.find(metric_of(reason));
    if (found == metrics.end()) continue;
    const double warps = std::max(0.0, found->second);
    counters.stalls[std::string(reason.name)] = warps;
    resident += warps;
  }
  if (resident <= 0) counters.stalls.clear();
  for (auto& [reason, warps] : counters.stalls) warps /= resident;
  return counters;
}

std::vector<std::string> counted_metrics() {
  std::vector<std::string> metrics;
  for_each_counter([&](const CounterField& field) {
    for (std::string& name : alternatives(field.metrics)) metrics.push_back(std::move(name));
  });
  for (const StallReason& reason : stall_reasons) metrics.push_back(metric_of(reason));
  return metrics;
}

std::string table_of_counters() {
  Table table{
      {{"counter", "counter"}, {"meaning", "meaning"}, {"metric", "Nsight Compute's metric"}}, {}};
  for_each_counter([&](const CounterField& field) {
    std::string metrics;
    for (const std::string& name : alternatives(field.metrics)) {
      metrics += (metrics.empty() ? "`" : ", or `") + name + '`';
    }
    table.add({'`' + std::string(field.name) + '`', std::string(field.rules.meaning), metrics});
  });
  Table stalls{{{"stall", "stall"}, {"meaning", "what a warp waits for"}}, {}};
  for (const StallReason& reason : stall_reasons) {
    stalls.add({'`' + std::string(reason.name) + '`', std::string(reason.meaning)});
  }
  return to_markdown(table) + '\n' + to_markdown(stalls);
}

nlohmann::ordered_json to_json(const ProfileFile& file) {
  nlohmann::ordered_json json = {{"schema", profile_schema_name},
                                 {"version", profile_schema_version}};
  json.update(written(file, any_value, Place()));
  return with_digest(parse_json(dump_json(json), "the profile"));
}

ProfileFile profile_from_json(const nlohmann::ordered_json& json) {
  // Its own fields came with its first version; those it shares are of the newest result.
  const At at(json, result_schema_version);
  if (at.member("schema").text() != profile_schema_name) {
    at.member("schema").expected(std::string("\"") + profile_schema_name + "\"");
  }
  schema_version_at(at.member("version"), profile_schema_version);
  ProfileFile file;
  read(at, any_value, file);
  check_profile_digest(at);
  return file;
}

ProfileFile read_profile_file(const std::string& path) {
  const nlohmann::ordered_json json = read_json_file(path);
  try {
    return profile_from_json(json);
  } catch (const ResultError& error) {
    throw ResultError(path + ": " + error.what());
  }
}

void write_profile_file(const std::string& path, const ProfileFile& file) {
  write_text_file(path, dump_json(to_json(file)));
}

nlohmann::ordered_json profile_schema() {
  return file_schema<ProfileFile>(
      profile_schema_name, profile_schema_version, "Amasia profile",
      "What the hardware counted while variants ran under Nsight Compute. Written by `amasia "
      "schema "
      "--of profile` from harness/results/profile_fields.hpp. A counter that the profiler or the "
      "GPU does not have is null.");
}

}  // namespace amasia
