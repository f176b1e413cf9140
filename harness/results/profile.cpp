#include "harness/results/profile.hpp"

#include <algorithm>

#include "harness/results/codec.hpp"
#include "harness/results/envelope.hpp"
#include "harness/text/pattern.hpp"
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

std::string metric_of(const StallReason& reason) {
  return std::string(stall_metric_begin).append(reason.name).append(stall_metric_end);
}

}  // namespace

Counters counters_of(const std::map<std::string, double>& metrics) {
  Counters counters;
  for_each_counter([&](const CounterField& field) {
    for (const std::string& name : split(field.metrics, ' ')) {
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
    for (std::string& name : split(field.metrics, ' ')) metrics.push_back(std::move(name));
  });
  for (const StallReason& reason : stall_reasons) metrics.push_back(metric_of(reason));
  return metrics;
}

std::string table_of_counters() {
  Table table{{{"counter"}, {"meaning"}, {"Nsight Compute's metric"}}, {}};
  for_each_counter([&](const CounterField& field) {
    std::string metrics;
    for (const std::string& name : split(field.metrics, ' ')) {
      metrics += (metrics.empty() ? "`" : ", or `") + name + '`';
    }
    table.add({'`' + std::string(field.name) + '`', std::string(field.rules.meaning), metrics});
  });
  Table stalls{{{"stall"}, {"what a warp waits for"}}, {}};
  for (const StallReason& reason : stall_reasons) {
    stalls.add({'`' + std::string(reason.name) + '`', std::string(reason.meaning)});
  }
  return to_markdown(table) + '\n' + to_markdown(stalls);
}

std::string to_text(const ProfileFile& file) {
  return sealed(profile_schema_name, profile_schema_version, written(file));
}

ProfileFile profile_from_text(const std::string& text, const std::string& path) {
  const Json json = unsealed(text, path, profile_schema_name, profile_schema_version);
  ProfileFile file;
  naming(path, [&] { read(At(json), any_value, file); });
  return file;
}

ProfileFile read_profile_file(const std::string& path) {
  return profile_from_text(read_packed_file(path), path);
}

void write_profile_file(const std::string& path, const ProfileFile& file) {
  write_packed_file(path, to_text(file));
}

}  // namespace amasia
