#include "harness/report/google_benchmark.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "harness/results/claim.hpp"
#include "harness/results/row_name.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

/// Entries of one row; empty when it has no valid time.
std::vector<const Sample*> valid_samples(const Row& row) {
  std::vector<const Sample*> samples;
  if (row.status != RowStatus::ok) return samples;
  for (const Sample& sample : row.samples) {
    if (!sample.throttled) samples.push_back(&sample);
  }
  return samples;
}

}  // namespace

std::string benchmark_name(const GroupKey& key, const Row& row) {
  std::string role = role_in_group(row);
  std::replace(role.begin(), role.end(), ' ', '/');
  return fmt::format("{}/{}{}/{}/{}/{}", row.variant, role,
                     row.repeat > 0 ? fmt::format("/repeat:{}", row.repeat) : "",
                     key.size.to_string(), word_of(key.cache), word_of(key.launch));
}

std::string to_google_benchmark(const ResultFile& file) {
  constexpr double ns_per_ms = 1e6;  // compare.py prints whole units: ns, not ms
  const Provenance& from = file.provenance;
  Json context = {{"date", from.date_utc},
                  {"host_name", from.host_name},
                  {"executable", from.argv.empty() ? "amasia" : from.argv.front()},
                  {"num_cpus", 0},
                  {"mhz_per_cpu", 0},
                  {"cpu_scaling_enabled", false},
                  {"caches", Json::array()},
                  {"load_avg", Json::array()},
                  {"library_build_type", "release"},
                  {"gpu", from.device.name},
                  {"commit", from.commit}};
  Json benchmarks = Json::array();
  int family = 0;
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      const std::vector<const Sample*> samples = valid_samples(row);
      if (samples.empty()) continue;
      const std::string name = benchmark_name(group.key, row);
      if (!group.invalid.empty()) {  // as Google Benchmark writes what ended with an error
        benchmarks.push_back({{"name", name},
                              {"family_index", family++},
                              {"per_family_instance_index", 0},
                              {"run_name", name},
                              {"run_type", "iteration"},
                              {"repetitions", 1},
                              {"repetition_index", 0},
                              {"threads", 1},
                              {"error_occurred", true},
                              {"error_message", to_string(group.invalid.front())},
                              {"iterations", 0},
                              {"real_time", 0.0},
                              {"cpu_time", 0.0},
                              {"time_unit", "ns"},
                              {"label", row.config}});
        continue;
      }
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const double time = samples[i]->time_ms * ns_per_ms;
        benchmarks.push_back({{"name", name},
                              {"family_index", family},
                              {"per_family_instance_index", 0},
                              {"run_name", name},
                              {"run_type", "iteration"},
                              {"repetitions", samples.size()},
                              {"repetition_index", i},
                              {"threads", 1},
                              {"iterations", 1},
                              {"real_time", time},
                              {"cpu_time", time},
                              {"time_unit", "ns"},
                              {"label", row.config}});
      }
      ++family;
    }
  }
  return dump_json({{"context", std::move(context)}, {"benchmarks", std::move(benchmarks)}});
}

}  // namespace amasia
