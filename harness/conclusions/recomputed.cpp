#include "harness/conclusions/recomputed.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/conclusions/comparison.hpp"
#include "harness/results/envelope.hpp"
#include "harness/results/field.hpp"
#include "harness/statistics/statistics.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

/// The rounds of these samples must ascend, one sample in each: pairing relies on it.
void check_rounds(const std::vector<Sample>& samples, const Place& columns) {
  int next = 0;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    if (samples[s].round < next) {
      const Place column(columns, "round");
      throw ResultError(fmt::format("{}: expected at least {}, because rounds ascend, found {}",
                                    Place(column, s).to_string(), next, samples[s].round));
    }
    next = samples[s].round + 1;
  }
}

void check_rounds(const GroupResult& group, const Place& at) {
  const Place rows(at, "rows");
  for (std::size_t r = 0; r < group.rows.size(); ++r) {
    const Place row(rows, r);
    check_rounds(group.rows[r].samples, Place(row, "samples"));
    check_rounds(group.rows[r].repeat_samples, Place(row, "repeat_samples"));
  }
}

/// Every group names one of the sessions, where there are any, and nothing has a case twice: a row
/// of two sessions must be two measurements.
template <class Result, class Name>
void check_sessions(const Provenance& provenance, const std::vector<Result>& results,
                    const Place& at, const Name& name) {
  std::set<std::pair<int, std::string>> seen;
  const int sessions = static_cast<int>(provenance.sessions.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Place result(at, i), place(result, "session");
    const std::optional<int>& session = results[i].session;
    const std::string found = session ? fmt::format("{}", *session) : "nothing";
    if (session.has_value() != (sessions > 0) || (session && *session >= sessions)) {
      throw ResultError(fmt::format(
          "{}: expected {}, found {}", place.to_string(),
          sessions > 0 ? fmt::format("one of the {} sessions of the provenance", sessions)
                       : std::string("nothing, because the provenance has no sessions"),
          found));
    }
    if (!seen.emplace(session.value_or(-1), name(results[i])).second) {
      throw ResultError(
          session ? fmt::format("{}: expected another session, because {} has {} already",
                                place.to_string(), found, name(results[i]))
                  : fmt::format("{}: expected a case that is not there yet, found {} a second time",
                                result.to_string(), name(results[i])));
    }
  }
}

/// Numbers may each be in range and still have no quotient or logarithm.
template <class Check>
void within_arithmetic(const Place& at, const Check& check) {
  try {
    check();
  } catch (const std::invalid_argument& error) {
    throw ResultError(at.to_string() + ": expected samples that can be compared: " + error.what());
  }
}

/// What could not be computed is unknown, as it is written.
std::optional<double> known(double value) {
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// The median of a column of the readings; nothing unless every reading has it.
std::optional<double> median_of(const std::vector<Reading>& samples,
                                std::optional<double> Reading::*member) {
  std::vector<double> values;
  for (const Reading& r : samples) {
    if (r.*member) values.push_back(*(r.*member));
  }
  if (values.size() < samples.size() || values.empty()) return std::nullopt;
  return median_interval(std::move(values), 0.95).median;
}

/// `amount` / ceiling, 0 when there is nothing to do; clears `known` when the ceiling is needed but
/// absent.
double time_for(double amount, std::string_view name, const std::vector<Ceiling>& ceilings,
                bool& known) {
  if (amount <= 0) return 0;
  for (const Ceiling& ceiling : ceilings) {
    if (ceiling.name == name && ceiling.value > 0) return amount / ceiling.value;
  }
  known = false;
  return 0;
}

}  // namespace

double asked_confidence(const Provenance& provenance) {
  const auto setting = provenance.settings.find("confidence");
  if (setting == provenance.settings.end()) return 0.95;  // as the program has it
  const std::string& text = setting->second;
  const double confidence = number_from<double>(text).value_or(0);
  if (!(confidence > 0 && confidence < 1)) {
    throw ResultError("provenance.settings.confidence: expected a number between 0 and 1, found " +
                      text.substr(0, 40));
  }
  return confidence;
}

void recompute(ResultFile& file) {
  const Place document, groups(document, "groups"), microbenchmarks(document, "microbenchmarks");
  const double confidence = asked_confidence(file.provenance);
  check_sessions(file.provenance, file.groups, groups,
                 [](const GroupResult& g) { return g.key.to_string(); });
  check_sessions(file.provenance, file.microbenchmarks, microbenchmarks,
                 [](const MicrobenchmarkResult& m) { return m.name; });
  within_arithmetic(Place(document, "ceilings"), [&] {
    for (Ceiling& c : file.ceilings) c.value = median_interval(c.samples, 0.95).median;
  });
  for (std::size_t g = 0; g < file.groups.size(); ++g) {
    const Place at(groups, g);
    check_rounds(file.groups[g], at);
    within_arithmetic(at, [&] { judge_anew(file.groups[g], confidence); });
  }
  for (std::size_t m = 0; m < file.microbenchmarks.size(); ++m) {
    within_arithmetic(Place(microbenchmarks, m),
                      [&] { recompute(file.microbenchmarks[m], confidence); });
  }
}

ResultFile result_from_json(Json json) {
  ResultFile file = unchecked_from_json(std::move(json));
  recompute(file);
  return file;
}

ResultFile result_from_text(const std::string& text, const std::string& path) {
  auto json = unsealed(text, path, result_schema_name, result_schema_version);
  return naming(path, [&] { return result_from_json(std::move(json)); });
}

ResultFile read_result_file(const std::string& path) {
  return result_from_text(read_packed_file(path), path);
}

std::optional<double> share_of_floor(const std::optional<Floor>& floor, const Row& row) {
  if (!floor || !row.time_ms) return std::nullopt;
  return known(floor->floor_ms() / row.time_ms->median);
}

void recompute(GroupResult& group, double confidence) {
  for (Row& row : group.rows) {
    row.time_ms.reset();
    row.gflops.reset();
    row.gbytes_per_s.reset();
    const auto times = usable_times(row);
    if (row.status == RowStatus::ok && !times.empty()) {
      row.time_ms = time_of(row, confidence, group.interval_rule);
      const double seconds = row.time_ms->median * 1e-3;
      row.gflops = known(group.work.operations / seconds * 1e-9);
      row.gbytes_per_s = known((group.work.bytes_read + group.work.bytes_written) / seconds * 1e-9);
    }
    row.floor_fraction = share_of_floor(group.floor, row);
  }
  group.comparisons = compare_rows(group.rows, confidence, group.interval_rule);
  set_claims(group);
}

void judge_anew(GroupResult& group, double confidence) {
  const bool compares = std::ranges::any_of(
      group.rows, [](const Row& r) { return r.role != Role::candidate && r.time_ms; });
  if (compares) group.interval_rule = newest_rule;
  recompute(group, confidence);
}

void recompute(MicrobenchmarkResult& result, double confidence) {
  for (MicrobenchmarkRow& row : result.rows) {
    row.value.reset();
    if (row.status == RowStatus::ok && !row.samples.empty()) {
      std::vector<double> values;
      for (const Reading& r : row.samples) values.push_back(r.value);
      row.value = median_interval(std::move(values), confidence);
    }
    row.cycles = median_of(row.samples, &Reading::cycles);
    row.time_ns = median_of(row.samples, &Reading::time_ns);
    row.clock_mhz = median_of(row.samples, &Reading::clock_mhz);
  }
}

double Floor::floor_ms() const { return std::max({bytes_ms, operations_ms, dependency_ms}); }

Bound Floor::bound_by() const {
  if (bytes_ms >= operations_ms && bytes_ms >= dependency_ms) return Bound::bytes;
  return operations_ms >= dependency_ms ? Bound::operations : Bound::dependency;
}

std::string rate_of(Work::Kind kind) {
  return std::string(word_of(kind == Work::Kind::tf32x3 ? Work::Kind::tf32 : kind)) + "_rate";
}

bool is_tensor_rate(std::string_view ceiling) {
  using Kind = Work::Kind;
  const auto kinds = {Kind::tf32, Kind::bf16, Kind::e4m3};
  return std::ranges::any_of(kinds, [&](Kind kind) { return rate_of(kind) == ceiling; });
}

std::optional<Floor> compute_floor(const Work& work, const std::vector<Ceiling>& ceilings) {
  constexpr double giga_per_s_to_ms = 1e-6;  // x / (1e9 / s) in ms
  if (!has_work(work)) return std::nullopt;
  bool known = true;
  Floor floor;
  const double bytes = work.bytes_read + work.bytes_written;
  if (bytes > 0) {
    const double written = work.bytes_written / bytes;
    const double copied = written <= 0.5 ? 2 * written : 2 - 2 * written;
    const char* rest = written <= 0.5 ? "read_bandwidth" : "write_bandwidth";
    floor.bytes_ms =
        giga_per_s_to_ms * (time_for(bytes * copied, "copy_bandwidth", ceilings, known) +
                            time_for(bytes * (1 - copied), rest, ceilings, known));
  }
  const int products = work.kind == Work::Kind::tf32x3 ? 3 : 1;
  floor.operations_ms =
      giga_per_s_to_ms * time_for(products * work.operations, rate_of(work.kind), ceilings, known);

  constexpr double ns_to_ms = 1e-6;
  if (work.dependent_operations > 0) {
    const auto latency = std::ranges::find_if(ceilings, [](const Ceiling& ceiling) {
      return ceiling.name == "dependent_op_ns" && ceiling.value > 0;
    });
    if (latency == ceilings.end()) return std::nullopt;
    floor.dependency_ms = ns_to_ms * work.dependent_operations * latency->value;
  }
  if (!known) return std::nullopt;
  return floor;
}

}  // namespace amasia
