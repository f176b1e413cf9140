#include "harness/results/again.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/results/comparison.hpp"
#include "harness/results/row_name.hpp"
#include "harness/results/sessions.hpp"
#include "harness/statistics/false_discovery.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

constexpr double false_discovery_rate = 0.05;

/// A row that is to be judged, with what is known before it is known how many others differ.
struct Candidate {
  RepeatedRow row;
  double p = 1;
  std::vector<std::string> causes{};
};

std::optional<double> median_clock(const Row& row) {
  std::vector<double> clocks;
  for (const Sample& s : row.samples) {
    if (s.sm_clock_mhz && !s.throttled) clocks.push_back(*s.sm_clock_mhz);
  }
  if (clocks.empty()) return std::nullopt;
  return median_interval(std::move(clocks), 0.95).median;
}

/// Also looked for in the causes of a value, to count those of other code.
constexpr std::string_view other_code_cause = "other code (its digest differs)";

/// The clock as a cause of a time that is `ratio` times the recorded one: "SM clock 1610 MHz
/// against 1980 MHz"; "" where it does not explain half of it.
std::string clock_cause(const Row& recorded, const Row& now, double ratio) {
  const auto before = median_clock(recorded), after = median_clock(now);
  if (!before || !after) return "";
  const double explained = std::log(*before / *after), moved = std::log(ratio);
  if (explained * moved <= 0 || std::abs(explained) < 0.5 * std::abs(moved)) return "";
  return fmt::format("SM clock {:.0f} MHz against {:.0f} MHz", *after, *before);
}

const GroupResult* same_case(const ResultFile& file, const GroupResult& group) {
  for (const GroupResult& other : file.groups) {
    if (other.key.to_string() == group.key.to_string()) return &other;
  }
  return nullptr;
}

const Row* same_row(const GroupResult& group, const Row& row) {
  for (const Row& other : group.rows) {
    if (other.variant == row.variant && other.role == row.role && other.repeat == row.repeat &&
        other.schedule == row.schedule) {
      return &other;
    }
  }
  return nullptr;
}

/// Facts in which the machines or builds differ, from the one that explains most.
std::vector<std::string> differences_of(const Provenance& recorded, const Provenance& now) {
  std::vector<std::string> found;
  const auto add = [&](const char* what, const std::string& before, const std::string& after) {
    if (before != after) found.push_back(fmt::format("{} {} against {}", what, after, before));
  };
  add("GPU model", recorded.device.name, now.device.name);
  add("CUDA driver", std::to_string(recorded.device.driver_version),
      std::to_string(now.device.driver_version));
  add("CUDA compiler", recorded.cuda_compiler, now.cuda_compiler);
  add("compiler flags", recorded.flags, now.flags);
  add("architectures", recorded.architectures, now.architectures);
  for (const char* state : {"power_limit_w", "mig", "compute_mode", "driver_version"}) {
    const auto before = recorded.device_state.find(state), after = now.device_state.find(state);
    if (before != recorded.device_state.end() && after != now.device_state.end()) {
      add(state, before->second, after->second);
    }
  }
  return found;
}

/// The interval that `now` was to fall into, and how improbable it is.
void judge(Candidate& candidate, const std::optional<Prediction>& predicted, const char* knows,
           const std::vector<double>& before, const std::vector<double>& after) {
  RepeatedRow& row = candidate.row;
  if (predicted) {
    row.interval = knows;
    row.low = predicted->low;
    row.high = predicted->high;
    candidate.p = p_value(*predicted, std::log(row.now));
    return;
  }
  // Of two runs, by the errors that their exact intervals have.
  row.interval = "one run each";
  const MedianInterval then = median_interval(before, prediction_confidence),
                       again = median_interval(after, prediction_confidence);
  const auto variance = [](const MedianInterval& m) {
    const double error = log_error(m.low, m.high, m.coverage);
    return error * error;
  };
  Difference difference;
  difference.value = std::log(row.now / row.recorded);
  difference.deviation = std::sqrt(variance(then) + variance(again));
  difference.degrees = std::max(1, std::min(then.n, again.n) - 1);
  const double half =
      student_quantile((1 + prediction_confidence) / 2, difference.degrees) * difference.deviation;
  row.low = row.recorded * std::exp(-half);
  row.high = row.recorded * std::exp(half);
  candidate.p = p_value(difference);
}

class Comparer {
 public:
  Comparer(const ResultFile& recorded, const ResultFile& now,
           const std::vector<const ResultFile*>& more,
           const std::map<std::string, std::string>& obstacles,
           const std::vector<std::string>& only)
      : recorded_(recorded),
        now_(now),
        sessions_(files_of(recorded, more)),
        obstacles_(obstacles),
        only_(only) {}

  std::vector<Candidate> rows() {
    for (const GroupResult* shown : shown_groups(recorded_)) {
      if (!is_asked(only_, shown->key.to_string())) continue;
      const GroupResult* again = same_case(now_, *shown);
      for (const Row& row : shown->rows) {
        if (row.time_ms && row.status == RowStatus::ok) add(*shown, again, row);
      }
      for (const Comparison& c : shown->comparisons) {
        if (again != nullptr && !c.control) add(*shown, *again, c);
      }
    }
    for (const MicrobenchmarkResult* m : shown_microbenchmarks(recorded_)) {
      if (is_asked(only_, m->name)) add(*m);
    }
    return std::move(candidates_);
  }

 private:
  static std::vector<const ResultFile*> files_of(const ResultFile& recorded,
                                                 const std::vector<const ResultFile*>& more) {
    std::vector<const ResultFile*> files{&recorded};
    files.insert(files.end(), more.begin(), more.end());
    return files;
  }

  bool same_model() const {
    return recorded_.provenance.device.name == now_.provenance.device.name;
  }

  /// Where sessions of the model tell it: on the very GPU, else on another one.
  std::pair<std::optional<Prediction>, const char*> predicted(const Sessions::Values& values,
                                                              const Components& kind) const {
    if (!same_model() || values.empty()) return {};
    const std::string& gpu = now_.provenance.device.uuid_hash;
    if (auto here = predict_on(gpu, values, kind, prediction_confidence)) {
      return {here, "this GPU"};
    }
    return {predict(values, kind, prediction_confidence), "another GPU"};
  }

  void add(const GroupResult& group, const GroupResult* again, const Row& row) {
    Candidate candidate;
    RepeatedRow& result = candidate.row;
    result.quantity = "time";
    result.unit = "ms";
    result.name =
        fmt::format("{} ({}){}", row.variant, role_in_group(row), row.repeat > 0 ? " A/A" : "");
    result.at = group.key.to_string();
    result.recorded = row.time_ms->median;
    const Row* other = again == nullptr ? nullptr : same_row(*again, row);
    if (other == nullptr || !other->time_ms || other->config != row.config) {
      result.outcome = Outcome::not_possible;
      const auto obstacle =
          obstacles_.find(fmt::format("{} ({}) at {}", row.variant, role_in_group(row), result.at));
      result.reason =
          obstacle == obstacles_.end() ? reason_of(again, other, row) : obstacle->second;
      candidates_.push_back(std::move(candidate));
      return;
    }
    result.now = other->time_ms->median;
    const auto [next, knows] =
        predicted(sessions_.of(recorded_, group, row),
                  sessions_.times_of(recorded_.provenance.device.name, group.key.app));
    judge(candidate, next, knows, usable_times(row), usable_times(*other));
    candidate.causes = causes_of(row, *other, result.now / result.recorded);
    candidates_.push_back(std::move(candidate));
  }

  static std::string reason_of(const GroupResult* again, const Row* other, const Row& row) {
    if (again == nullptr) return "the case did not run";
    if (other == nullptr) return "the row did not run";
    if (other->status == RowStatus::ok && other->config != row.config) {
      return fmt::format("config {} does not run here: {}", row.config, other->config_source);
    }
    return fmt::format("{}: {}", word_of(other->status),
                       other->reason.empty() ? "no time" : other->reason);
  }

  std::vector<std::string> causes_of(const Row& before, const Row& after, double ratio) const {
    std::vector<std::string> causes;
    if (code_of(recorded_.provenance, before) != code_of(now_.provenance, after)) {
      causes.emplace_back(other_code_cause);
    }
    if (const std::string clock = clock_cause(before, after, ratio); !clock.empty()) {
      causes.push_back(clock);
    }
    return causes;
  }

  void add(const GroupResult& group, const GroupResult& again, const Comparison& comparison) {
    const auto before = rows_of(group.rows, comparison);
    if (!before) return;
    const Row *row = same_row(again, *before->row),
              *reference = same_row(again, *before->reference);
    const bool possible = row != nullptr && reference != nullptr && row->time_ms &&
                          reference->time_ms && row->config == before->row->config &&
                          reference->config == before->reference->config;
    if (!possible) return;  // the rows say so
    const auto [reference_then, then] = paired_times(*before->reference, *before->row);
    const auto [reference_now, now] = paired_times(*reference, *row);
    if (now.empty()) return;
    const auto ratios = [](const std::vector<double>& over, const std::vector<double>& under) {
      std::vector<double> list;
      for (std::size_t i = 0; i < under.size(); ++i) list.push_back(over[i] / under[i]);
      return list;
    };
    Candidate candidate;
    RepeatedRow& result = candidate.row;
    result.quantity = "speed-up";
    result.name = fmt::format("{} ({}) over {}", comparison.variant, word_of(comparison.role),
                              comparison.against);
    result.at = group.key.to_string();
    result.recorded = comparison.speedup.ratio;
    const std::vector<double> ratios_now = ratios(reference_now, now);
    result.now = median_interval(ratios_now, prediction_confidence).median;
    const auto [next, knows] =
        predicted(sessions_.of(recorded_, group, comparison),
                  sessions_.ratios_of(recorded_.provenance.device.name, group.key.app));
    judge(candidate, next, knows, ratios(reference_then, then), ratios_now);
    for (const auto& [was, is] : {std::pair(before->row, row), {before->reference, reference}}) {
      for (std::string& cause : causes_of(*was, *is, 1)) {
        cause = is->variant + ": " + cause;
        if (std::find(candidate.causes.begin(), candidate.causes.end(), cause) ==
            candidate.causes.end()) {
          candidate.causes.push_back(std::move(cause));
        }
      }
    }
    candidates_.push_back(std::move(candidate));
  }

  void add(const MicrobenchmarkResult& recorded) {
    const MicrobenchmarkResult* again = nullptr;
    for (const MicrobenchmarkResult& m : now_.microbenchmarks) {
      if (m.name == recorded.name) again = &m;
    }
    for (const MicrobenchmarkRow& row : recorded.rows) {
      if (!row.value) continue;
      Candidate candidate;
      RepeatedRow& result = candidate.row;
      result.quantity = row.quantity;
      result.unit = row.unit;
      result.name = fmt::format("{} [{}]", recorded.name, to_string(row.at));
      result.recorded = row.value->median;
      const MicrobenchmarkRow* other = nullptr;
      for (std::size_t i = 0; again != nullptr && i < again->rows.size(); ++i) {
        const MicrobenchmarkRow& r = again->rows[i];
        if (r.at == row.at && r.quantity == row.quantity) other = &r;
      }
      if (other == nullptr || !other->value) {
        result.outcome = Outcome::not_possible;
        const auto obstacle = obstacles_.find(recorded.name);
        result.reason = obstacle != obstacles_.end() ? obstacle->second
                        : other == nullptr
                            ? std::string("the point did not run")
                            : fmt::format("{}: {}", word_of(other->status), other->reason);
      } else {
        result.now = other->value->median;
        judge(candidate, std::nullopt, "", values_of(row), values_of(*other));
        if (recorded.source_digest != again->source_digest) {
          candidate.causes.emplace_back(other_code_cause);
        }
      }
      candidates_.push_back(std::move(candidate));
    }
  }

  static std::vector<double> values_of(const MicrobenchmarkRow& row) {
    std::vector<double> values;
    for (const Reading& r : row.samples) values.push_back(r.value);
    return values;
  }

  const ResultFile& recorded_;
  const ResultFile& now_;
  Sessions sessions_;
  const std::map<std::string, std::string>& obstacles_;
  const std::vector<std::string>& only_;
  std::vector<Candidate> candidates_{};
};

}  // namespace

bool is_asked(const std::vector<std::string>& only, std::string_view name) {
  return only.empty() || std::any_of(only.begin(), only.end(), [&](const std::string& pattern) {
           return glob_match(pattern, name);
         });
}

int Repetition::count(Outcome outcome) const {
  return static_cast<int>(std::count_if(
      rows.begin(), rows.end(), [&](const RepeatedRow& row) { return row.outcome == outcome; }));
}

Repetition repetition(const ResultFile& recorded, const ResultFile& now,
                      const std::vector<const ResultFile*>& more,
                      const std::map<std::string, std::string>& obstacles,
                      const std::vector<std::string>& only) {
  Repetition result;
  result.differences = differences_of(recorded.provenance, now.provenance);
  std::vector<Candidate> candidates = Comparer(recorded, now, more, obstacles, only).rows();
  std::vector<double> p_values;
  for (const Candidate& c : candidates) {
    if (c.row.outcome == Outcome::not_possible) continue;
    p_values.push_back(c.p);
    result.of_other_code += std::any_of(
        c.causes.begin(), c.causes.end(),
        [](const std::string& cause) { return cause.find(other_code_cause) != std::string::npos; });
  }
  const Discoveries discoveries = benjamini_hochberg(p_values, false_discovery_rate);
  std::size_t judged = 0;
  for (Candidate& c : candidates) {
    RepeatedRow& row = c.row;
    if (row.outcome != Outcome::not_possible) {
      const bool inside = row.low <= row.now && row.now <= row.high;
      const bool found = discoveries.found[judged++];
      row.outcome = inside ? Outcome::same : found ? Outcome::different : Outcome::edge;
      if (row.outcome == Outcome::different) {
        std::vector<std::string> causes = c.causes;
        causes.insert(causes.end(), result.differences.begin(), result.differences.end());
        row.reason = causes.empty() ? "nothing that is recorded differs"
                                    : fmt::format("{}", fmt::join(causes, "; "));
      }
    }
    result.rows.push_back(std::move(row));
  }
  return result;
}

Table to_table(const Repetition& repetition) {
  Table table;
  table.columns = {{"outcome", "outcome"},
                   {"name", "row"},
                   {"at", "case"},
                   {"quantity", "quantity"},
                   {"unit", "unit"},
                   {"recorded", "recorded"},
                   {"low", "to fall in, from"},
                   {"high", "to"},
                   {"now", "now"},
                   {"interval", "interval of"},
                   {"reason", "likely cause"}};
  const auto text = [](const std::string& t) { return t.empty() ? Cell() : Cell(t); };
  for (const RepeatedRow& row : repetition.rows) {
    const auto measured = [&](double value) {
      return row.outcome == Outcome::not_possible ? Cell() : Cell(value);
    };
    table.add({word_cell(row.outcome), row.name, text(row.at), row.quantity, text(row.unit),
               row.recorded, measured(row.low), measured(row.high), measured(row.now),
               text(row.interval), text(row.reason)});
  }
  return table;
}

}  // namespace amasia
