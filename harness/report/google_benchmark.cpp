#include "harness/report/google_benchmark.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "harness/report/cells.hpp"
#include "harness/results/claim.hpp"
#include "harness/results/row_name.hpp"
#include "harness/statistics/statistics.hpp"
#include "harness/text/json_file.hpp"

namespace amasia {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view no_time = " (no time)";

/// What one repetition measured; nothing for the time of what is no time.
struct BenchmarkRun {
  std::optional<double> time_ns{};
  std::map<std::string, double> counters{};  // in the order of their names, as the library has them
};

/// A statistic as the library names it. Those of unit "percentage" are shares of the mean.
struct BenchmarkAggregate {
  const char *name, *unit;
  double (*of)(const std::vector<double>& values);
};

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double median(const std::vector<double>& values) { return median_interval(values, 0.5).median; }

/// Of a sample; 0 of a single value, as the library has it.
double standard_deviation(const std::vector<double>& values) {
  if (values.size() < 2) return 0;
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double coefficient_of_variation(const std::vector<double>& values) {
  const double middle = mean(values);
  return middle == 0 ? 0 : standard_deviation(values) / middle;
}

constexpr BenchmarkAggregate benchmark_aggregates[] = {
    {"mean", "time", mean},
    {"median", "time", median},
    {"stddev", "time", standard_deviation},
    {"cv", "percentage", coefficient_of_variation}};

bool all_timed(const std::vector<BenchmarkRun>& runs) {
  return std::all_of(runs.begin(), runs.end(),
                     [](const BenchmarkRun& run) { return run.time_ns.has_value(); });
}

/// The document while it grows.
class BenchmarkEntries {
 public:
  Json take() { return std::move(entries_); }

  void add_error(const std::string& name, const std::string& message, const std::string& label) {
    Json entry = begun(name, name, "iteration", 1);
    entry["repetition_index"] = 0;
    entry["threads"] = 1;
    entry["error_occurred"] = true;
    entry["error_message"] = message;
    entry["iterations"] = 0;
    add_time(entry, 0);
    entry["label"] = label;
    entries_.push_back(std::move(entry));
    ++family_;
  }

  /// Nothing for none.
  void add(const std::string& name, const std::vector<BenchmarkRun>& repetitions,
           const std::string& label) {
    if (repetitions.empty()) return;
    const bool timed = all_timed(repetitions);
    for (std::size_t i = 0; timed && i < repetitions.size(); ++i) {
      Json entry = begun(name, name, "iteration", repetitions.size());
      entry["repetition_index"] = i;
      entry["threads"] = 1;
      entry["iterations"] = 1;
      add_time(entry, *repetitions[i].time_ns);
      for (const auto& [counter, value] : repetitions[i].counters) entry[counter] = value;
      entry["label"] = label;
      entries_.push_back(std::move(entry));
    }
    // The library makes none of a single repetition. What has no time has nothing but these.
    if (repetitions.size() > 1 || !timed) {
      for (const BenchmarkAggregate& a : benchmark_aggregates)
        add_aggregate(a, name, repetitions, timed, label);
    }
    ++family_;
  }

 private:
  Json begun(const std::string& name, const std::string& run_name, const char* run_type,
             std::size_t repetitions) const {
    return {{"name", name},         {"family_index", family_}, {"per_family_instance_index", 0},
            {"run_name", run_name}, {"run_type", run_type},    {"repetitions", repetitions}};
  }

  static void add_time(Json& entry, double value) {
    entry["real_time"] = value;
    entry["cpu_time"] = value;
    entry["time_unit"] = "ns";  // compare.py prints whole units
  }

  void add_aggregate(const BenchmarkAggregate& a, const std::string& name,
                     const std::vector<BenchmarkRun>& repetitions, bool timed,
                     const std::string& label) {
    Json entry = begun(fmt::format("{}_{}", name, a.name), name, "aggregate", repetitions.size());
    entry["threads"] = 1;
    entry["aggregate_name"] = a.name;
    entry["aggregate_unit"] = a.unit;
    entry["iterations"] = repetitions.size();
    std::vector<double> values;
    for (const BenchmarkRun& r : repetitions) values.push_back(r.time_ns.value_or(0));
    add_time(entry, timed ? a.of(values) : 0);
    for (const auto& [counter, first] : repetitions.front().counters) {
      values.clear();
      for (const BenchmarkRun& r : repetitions) {
        if (const auto found = r.counters.find(counter); found != r.counters.end()) {
          values.push_back(found->second);
        }
      }
      // Of some repetitions only it would not be what the time is of.
      if (values.size() == repetitions.size()) entry[counter] = a.of(values);
    }
    entry["label"] = label;
    entries_.push_back(std::move(entry));
  }

  Json entries_ = Json::array();
  int family_ = 0;
};

std::vector<BenchmarkRun> benchmark_runs_of(const GroupResult& group, const Row& row) {
  constexpr double ns_per_ms = 1e6, ms_per_s = 1e3;
  std::vector<BenchmarkRun> repetitions;
  if (row.status != RowStatus::ok) return repetitions;
  for (const Sample& sample : row.samples) {
    if (sample.throttled) continue;
    BenchmarkRun& r = repetitions.emplace_back();
    r.time_ns = sample.time_ms * ns_per_ms;
    const double per_second = ms_per_s / sample.time_ms;
    r.counters[counters::bytes] = (group.work.bytes_read + group.work.bytes_written) * per_second;
    r.counters[counters::operations] = group.work.operations * per_second;
    if (group.floor) r.counters[counters::floor] = group.floor->floor_ms() / sample.time_ms;
    if (sample.sm_clock_mhz) r.counters[counters::sm_clock] = *sample.sm_clock_mhz;
  }
  return repetitions;
}

std::vector<BenchmarkRun> benchmark_runs_of(const MicrobenchmarkRow& row) {
  std::vector<BenchmarkRun> repetitions;
  if (row.status != RowStatus::ok) return repetitions;
  for (const Reading& reading : row.samples) {
    BenchmarkRun& r = repetitions.emplace_back();
    r.time_ns = nanoseconds_of(reading, row.unit);
    r.counters[counters::value] = reading.value;
    if (reading.cycles) r.counters[counters::cycles] = *reading.cycles;
    if (reading.clock_mhz) r.counters[counters::sm_clock] = *reading.clock_mhz;
  }
  return repetitions;
}

/// What stands under one name: of a file of several sessions the runs of all that are valid.
struct BenchmarkMeasured {
  std::vector<BenchmarkRun> runs{};
  std::string error{};  // why there are none
  std::string label{};
};

/// By name, in the order of the file, without what was not measured.
std::vector<std::pair<std::string, BenchmarkMeasured>> all_measured(const ResultFile& file) {
  std::vector<std::pair<std::string, BenchmarkMeasured>> all;
  std::map<std::string, std::size_t> places;
  const auto add = [&](const std::string& name, std::vector<BenchmarkRun> runs,
                       const std::string& label, const std::vector<Invalidity>& invalid) {
    if (runs.empty()) return;
    const auto [place, first] = places.emplace(name, all.size());
    if (first) all.emplace_back(name, BenchmarkMeasured{});
    BenchmarkMeasured& measured = all[place->second].second;
    // Sessions may have been best with different configs.
    if (measured.label.find(label) == std::string::npos) {
      measured.label += (measured.label.empty() ? "" : ", ") + label;
    }
    if (!invalid.empty()) {
      measured.error = to_string(invalid.front());
    } else {
      std::move(runs.begin(), runs.end(), std::back_inserter(measured.runs));
    }
  };
  for (const MicrobenchmarkResult& m : file.microbenchmarks) {
    for (const MicrobenchmarkRow& row : m.rows) {
      std::vector<BenchmarkRun> runs = benchmark_runs_of(row);
      const std::string label = benchmark_label(row, all_timed(runs));
      add(benchmark_name(m.name, row.at), std::move(runs), label, {});
    }
  }
  for (const GroupResult& group : file.groups) {
    for (const Row& row : group.rows) {
      add(benchmark_name(group.key, row), benchmark_runs_of(group, row), row.config, group.invalid);
    }
  }
  return all;
}

}  // namespace

std::string benchmark_name(const GroupKey& key, const Row& row) {
  std::string role = role_in_group(row);
  std::replace(role.begin(), role.end(), ' ', '/');
  return fmt::format("{}/{}{}/{}/{}/{}", row.variant, role,
                     row.repeat > 0 ? fmt::format("/repeat:{}", row.repeat) : "",
                     key.size.to_string(), word_of(key.cache), word_of(key.launch));
}

std::string benchmark_name(std::string_view microbenchmark, const Coordinates& at) {
  return fmt::format("{}/{}", microbenchmark, to_string(at));
}

std::string benchmark_label(const MicrobenchmarkRow& row, bool timed) {
  return fmt::format("{} in {}{}", row.quantity, row.unit, timed ? "" : no_time);
}

bool says_no_time(std::string_view label) { return label.ends_with(no_time); }

std::optional<double> nanoseconds_of(const Reading& reading, const std::string& unit) {
  if (reading.time_ns) return reading.time_ns;
  constexpr std::pair<std::string_view, double> units[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  for (const auto& [name, ns] : units) {
    if (unit == name) return reading.value * ns;
  }
  return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> benchmark_context(const Provenance& from) {
  const Device& device = from.device;
  std::vector<std::pair<std::string, std::string>> context;
  for (const auto& [column, cell] : origin_of(from)) {
    const std::string text = plain_text(cell);
    if (!text.empty()) context.emplace_back(column.key, text);
  }
  context.emplace_back("compute_capability", fmt::format("{}.{}", device.compute_capability / 10,
                                                         device.compute_capability % 10));
  if (device.max_clock_mhz > 0) {
    context.emplace_back("sm_clock_max_mhz", fmt::format("{}", device.max_clock_mhz));
  }
  if (device.memory_clock_mhz > 0) {
    context.emplace_back("memory_clock_mhz", fmt::format("{}", device.memory_clock_mhz));
  }
  // As NVML told them before the run: clocks, limits, temperature.
  for (const auto& [name, value] : from.device_state) {
    context.emplace_back("device_state." + name, value);
  }
  return context;
}

std::string to_google_benchmark(const ResultFile& file) {
  const Provenance& from = file.provenance;
  Json context = {{"date", from.date_utc},
                  {"host_name", from.host_name},
                  {"executable", from.argv.empty() ? "amasia" : from.argv.front()},
                  {"num_cpus", 0},
                  {"mhz_per_cpu", 0},
                  {"cpu_scaling_enabled", false},
                  {"caches", Json::array()},
                  {"load_avg", Json::array()},
                  {"library_build_type", "release"}};
  for (const auto& [name, value] : benchmark_context(from)) context[name] = value;
  BenchmarkEntries entries;
  for (const auto& [name, measured] : all_measured(file)) {
    if (measured.runs.empty() && !measured.error.empty()) {
      entries.add_error(name, measured.error, measured.label);
    } else {
      entries.add(name, measured.runs, measured.label);
    }
  }
  return dump_json({{"context", std::move(context)}, {"benchmarks", entries.take()}});
}

bool has_benchmarks(const ResultFile& file) { return !all_measured(file).empty(); }

}  // namespace amasia
