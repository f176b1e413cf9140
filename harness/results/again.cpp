#include "harness/results/again.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/results/claim.hpp"
#include "harness/results/comparison.hpp"
#include "harness/results/row_name.hpp"
#include "harness/results/sessions.hpp"
#include "harness/statistics/false_discovery.hpp"
#include "harness/statistics/quantiles.hpp"
#include "harness/text/pattern.hpp"

namespace amasia {
namespace {

constexpr double false_discovery_rate = 0.05;
/// An interval reaches at least so far to each side, as a share: four digits show any difference
/// that is larger. Samples that are all equal say that they move by less than a reading tells, not
/// that they do not move.
constexpr double least_half_width = 1e-3;

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

constexpr const char *on_this_gpu = "this GPU", *one_run_each = "one run each";

/// Also looked for in the causes of a value, to count those of other code.
constexpr std::string_view other_code_cause = "other code (its digest differs)";

/// What a change of the clock does to a time, as a logarithm; nothing where it is not known.
std::optional<double> by_clock(const Row& recorded, const Row& now) {
  const auto before = median_clock(recorded), after = median_clock(now);
  if (!before || !after) return std::nullopt;
  return std::log(*before / *after);
}

/// Whether it explains so much of a change, likewise.
bool explains(double explained, double moved, double share = 0.5) {
  return explained * moved > 0 && std::abs(explained) >= share * std::abs(moved);
}

/// "SM clock 1610 MHz against 1980 MHz".
std::string clock_phrase(const Row& recorded, const Row& now) {
  return fmt::format("SM clock {:.0f} MHz against {:.0f} MHz", *median_clock(now),
                     *median_clock(recorded));
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

/// Of all sessions in the file.
std::set<std::string> gpus_of(const ResultFile& file) {
  std::set<std::string> gpus;
  for (const GroupResult& group : file.groups) gpus.insert(gpu_of(file.provenance, group));
  for (const MicrobenchmarkResult& m : file.microbenchmarks) {
    gpus.insert(gpu_of(file.provenance, m));
  }
  return gpus;
}

/// Facts in which the machines or builds differ, from the one that explains most.
std::vector<std::string> differences_of(const ResultFile& file, const Provenance& now) {
  const Provenance& recorded = file.provenance;
  std::vector<std::string> found;
  const auto add = [&](std::string_view what, const std::string& before, const std::string& after) {
    if (before != after) found.push_back(fmt::format("{} {} against {}", what, after, before));
  };
  const std::set<std::string> gpus = gpus_of(file);
  if (recorded.device.name != now.device.name) {
    add("GPU model", recorded.device.name, now.device.name);
  } else if (!gpus.contains(now.device.uuid_hash)) {
    add("another GPU of the model,", fmt::format("{}", fmt::join(gpus, " and ")),
        now.device.uuid_hash);
  }
  add("CUDA driver", std::to_string(recorded.device.driver_version),
      std::to_string(now.device.driver_version));
  add("CUDA compiler", recorded.cuda_compiler, now.cuda_compiler);
  add("compiler flags", recorded.flags, now.flags);
  add("architectures", recorded.architectures, now.architectures);
  for (const char* state : {"power_limit_w", "memory_clock_mhz", "sm_clock_max_mhz", "ecc", "mig",
                            "compute_mode", "use", "driver_version"}) {
    const auto before = recorded.device_state.find(state), after = now.device_state.find(state);
    if (before != recorded.device_state.end() && after != now.device_state.end()) {
      add(state, before->second, after->second);
    }
  }
  return found;
}

/// The interval that `now` was to fall into, and how improbable it is.
void judge(Candidate& candidate, double now, const std::optional<Prediction>& predicted,
           const char* knows, const std::vector<double>& before, const std::vector<double>& after) {
  RepeatedRow& row = candidate.row;
  row.now = now;
  Difference difference;
  double expected = row.recorded;
  if (predicted) {
    row.interval = knows;
    expected = predicted->value;
    difference.degrees = predicted->degrees;
    difference.deviation = std::log(predicted->high / predicted->value) /
                           student_quantile((1 + predicted->confidence) / 2, predicted->degrees);
  } else {
    // Of two runs, by the errors that their exact intervals have.
    row.interval = one_run_each;
    const MedianInterval then = median_interval(before, prediction_confidence),
                         again = median_interval(after, prediction_confidence);
    const auto variance = [](const MedianInterval& m) {
      const double error = log_error(m.low, m.high, m.coverage);
      return error * error;
    };
    difference.deviation = std::sqrt(variance(then) + variance(again));
    difference.degrees = std::max(1, std::min(then.n, again.n) - 1);
  }
  const double quantile = student_quantile((1 + prediction_confidence) / 2, difference.degrees);
  difference.deviation = std::max(difference.deviation, std::log1p(least_half_width) / quantile);
  difference.value = std::log(now / expected);
  const double half = quantile * difference.deviation;
  row.low = expected * std::exp(-half);
  row.high = expected * std::exp(half);
  candidate.p = p_value(difference);
}

constexpr const char* one_sample =
    "one sample, then or now, does not tell how far values move; a file with more rounds does";

/// Whether the samples of one run on each side say how far they scatter.
bool can_judge(const std::vector<double>& before, const std::vector<double>& after) {
  return before.size() > 1 && after.size() > 1;
}

/// Why nothing is concluded from a case, a clause; "" where it is valid then and now.
std::string invalidity(const GroupResult& recorded, const GroupResult& now) {
  if (!now.invalid.empty()) return "measured now: " + to_string(now.invalid.front());
  if (recorded.invalid.empty()) return "";
  const Invalidity& then = recorded.invalid.front();
  return fmt::format("in the file: {}: {}; go by the value of now, which is valid",
                     word_of(then.kind), then.reason);
}

class Comparer {
 public:
  Comparer(const ResultFile& recorded, const ResultFile& now,
           const std::vector<const ResultFile*>& more,
           const std::map<std::string, std::string>& obstacles,
           const std::vector<std::string>& only)
      : recorded_(recorded),
        now_(now),
        recorded_gpus_(gpus_of(recorded)),
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
        if (!c.control) add(*shown, again, c);
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

  const std::string& this_gpu() const { return now_.provenance.device.uuid_hash; }

  /// Where sessions of the model tell it: on the very GPU, else on any of the model.
  std::pair<std::optional<Prediction>, const char*> predicted(const Sessions::Values& values,
                                                              const Components& kind) const {
    if (!same_model() || values.empty()) return {};
    if (auto here = predict_on(this_gpu(), values, kind, prediction_confidence)) {
      return {here, on_this_gpu};
    }
    const bool is_among_them =
        std::any_of(values.begin(), values.end(),
                    [&](const SessionValue& session) { return session.gpu == this_gpu(); });
    return {predict(values, kind, prediction_confidence),
            is_among_them ? "any GPU" : "another GPU"};
  }

  /// A value of the file with no value of now beside it.
  void add_unmeasured(Candidate candidate, bool failed, std::string reason) {
    candidate.row.outcome = failed ? Outcome::failed : Outcome::not_possible;
    candidate.row.reason = std::move(reason);
    candidates_.push_back(std::move(candidate));
  }

  /// One with a value of now that is not held against it.
  void add_invalid(Candidate candidate, double now, std::string reason) {
    candidate.row.now = now;
    candidate.row.outcome = Outcome::not_valid;
    candidate.row.reason = std::move(reason);
    candidates_.push_back(std::move(candidate));
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
    if (is_missing(other, row)) {
      return add_unmeasured(std::move(candidate), has_failed(other),
                            why_missing(group, again, other, row));
    }
    const double now = other->time_ms->median;
    if (std::string why = invalidity(group, *again); !why.empty()) {
      return add_invalid(std::move(candidate), now, std::move(why));
    }
    const Sessions::Values& sessions = sessions_.of(recorded_, group, row);
    const auto [next, knows] = predicted(
        sessions, sessions_.times_of(recorded_.provenance.device.name, pool_of(group), sessions));
    const std::vector<double> times = usable_times(row), times_now = usable_times(*other);
    if (!next && !can_judge(times, times_now)) {
      return add_invalid(std::move(candidate), now, one_sample);
    }
    judge(candidate, now, next, knows, times, times_now);
    candidate.causes = other_code(row, *other);
    const auto explained = by_clock(row, *other);
    if (explained && explains(*explained, std::log(now / result.recorded))) {
      candidate.causes.push_back(clock_phrase(row, *other));
    }
    add_causes_of_case(candidate, group, *again);
    candidates_.push_back(std::move(candidate));
  }

  static bool is_missing(const Row* other, const Row& row) {
    return other == nullptr || !other->time_ms || other->config != row.config;
  }

  static bool has_failed(const Row* other) {
    return other != nullptr &&
           (other->status == RowStatus::failed || other->status == RowStatus::crashed);
  }

  std::string why_missing(const GroupResult& group, const GroupResult* again, const Row* other,
                          const Row& row) const {
    const auto obstacle = obstacles_.find(
        fmt::format("{} ({}) at {}", row.variant, role_in_group(row), group.key.to_string()));
    if (obstacle != obstacles_.end()) return obstacle->second;
    if (again == nullptr) return "the case did not run";
    if (other == nullptr) return "the row did not run";
    if (other->status == RowStatus::ok && other->config != row.config) {
      return fmt::format("config {} does not run here: {}", row.config, other->config_source);
    }
    return fmt::format("{}: {}", word_of(other->status),
                       other->reason.empty() ? "no time" : other->reason);
  }

  std::vector<std::string> other_code(const Row& before, const Row& after) const {
    if (code_of(recorded_.provenance, before) == code_of(now_.provenance, after)) return {};
    return {std::string(other_code_cause)};
  }

  /// Another GPU than that of the session, where another session of the file was on this one: else
  /// it is among the differences of the files. And what held the clock down, if it was not so then.
  void add_causes_of_case(Candidate& candidate, const GroupResult& group,
                          const GroupResult& again) const {
    add_other_gpu(candidate, gpu_of(recorded_.provenance, group));
    constexpr const char* reasons = "throttle_reasons";
    const auto then = group.device_state.find(reasons), now = again.device_state.find(reasons);
    if (then != group.device_state.end() && now != again.device_state.end() &&
        then->second != now->second && !now->second.empty()) {
      candidate.causes.push_back(fmt::format("the clock was held down ({})", now->second));
    }
  }

  void add_other_gpu(Candidate& candidate, const std::string& then) const {
    if (candidate.row.interval == on_this_gpu || then == this_gpu() || !same_model()) return;
    if (!recorded_gpus_.contains(this_gpu())) return;
    candidate.causes.push_back(
        fmt::format("another GPU of the model, {} against {}", this_gpu(), then));
  }

  void add(const GroupResult& group, const GroupResult* again, const Comparison& comparison) {
    const auto before = rows_of(group.rows, comparison);
    if (!before) return;
    Candidate candidate;
    RepeatedRow& result = candidate.row;
    result.quantity = "speed-up";
    result.name = fmt::format("{} ({}) over {}", comparison.variant, word_of(comparison.role),
                              comparison.against);
    result.at = group.key.to_string();
    result.recorded = comparison.speedup.ratio;
    const Row *row = again == nullptr ? nullptr : same_row(*again, *before->row),
              *reference = again == nullptr ? nullptr : same_row(*again, *before->reference);
    for (const auto& [was, is] : {std::pair(before->row, row), {before->reference, reference}}) {
      if (!is_missing(is, *was)) continue;
      return add_unmeasured(
          std::move(candidate), has_failed(is),
          fmt::format("{}: {}", was->variant, why_missing(group, again, is, *was)));
    }
    const auto [reference_then, then] = paired_times(*before->reference, *before->row);
    const auto [reference_now, now] = paired_times(*reference, *row);
    if (then.empty() || now.empty()) {
      return add_unmeasured(std::move(candidate), false, "no round has a time of both rows");
    }
    const std::vector<double> ratios_now = quotients(reference_now, now);
    const double ratio_now = median_interval(ratios_now, prediction_confidence).median;
    if (std::string why = invalidity(group, *again); !why.empty()) {
      return add_invalid(std::move(candidate), ratio_now, std::move(why));
    }
    const Sessions::Values& sessions = sessions_.of(recorded_, group, comparison);
    const auto [next, knows] = predicted(
        sessions, sessions_.ratios_of(recorded_.provenance.device.name, pool_of(group), sessions));
    const std::vector<double> ratios = quotients(reference_then, then);
    if (!next && !can_judge(ratios, ratios_now)) {
      return add_invalid(std::move(candidate), ratio_now, one_sample);
    }
    judge(candidate, ratio_now, next, knows, ratios, ratios_now);
    const auto add_cause = [&](const Row& of, const std::string& cause) {
      std::string text = of.variant + ": " + cause;
      if (std::find(candidate.causes.begin(), candidate.causes.end(), text) ==
          candidate.causes.end()) {
        candidate.causes.push_back(std::move(text));
      }
    };
    for (const auto& [was, is] : {std::pair(before->row, row), {before->reference, reference}}) {
      for (const std::string& cause : other_code(*was, *is)) add_cause(*is, cause);
    }
    // A clock that moves both times alike leaves their ratio as it is.
    const double moved = std::log(ratio_now / result.recorded);
    const double of_row = by_clock(*before->row, *row).value_or(0),
                 of_reference = by_clock(*before->reference, *reference).value_or(0);
    if (explains(of_reference - of_row, moved)) {
      if (explains(-of_row, moved, 0.25)) add_cause(*row, clock_phrase(*before->row, *row));
      if (explains(of_reference, moved, 0.25)) {
        add_cause(*reference, clock_phrase(*before->reference, *reference));
      }
    }
    add_causes_of_case(candidate, group, *again);
    candidates_.push_back(std::move(candidate));
  }

  void add(const MicrobenchmarkResult& recorded) {
    const MicrobenchmarkResult* again = nullptr;
    for (const MicrobenchmarkResult& m : now_.microbenchmarks) {
      if (m.name == recorded.name) again = &m;
    }
    for (const MicrobenchmarkRow& row : recorded.rows) {
      if (row.value) add(recorded, again, row);
    }
  }

  void add(const MicrobenchmarkResult& recorded, const MicrobenchmarkResult* again,
           const MicrobenchmarkRow& row) {
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
      const auto obstacle = obstacles_.find(recorded.name);
      const bool failed = other != nullptr && (other->status == RowStatus::failed ||
                                               other->status == RowStatus::crashed);
      return add_unmeasured(std::move(candidate), failed,
                            obstacle != obstacles_.end() ? obstacle->second
                            : other == nullptr
                                ? std::string("the point did not run")
                                : fmt::format("{}: {}", word_of(other->status), other->reason));
    }
    if (const auto why = invalidity_in(*again)) {
      return add_invalid(std::move(candidate), other->value->median, "measured now: " + *why);
    }
    if (const auto why = invalidity_in(recorded)) {
      return add_invalid(std::move(candidate), other->value->median, "in the file: " + *why);
    }
    const Sessions::Values& sessions = sessions_.of(recorded_, recorded, row);
    const auto [next, knows] = predicted(
        sessions, sessions_.points_of(recorded_.provenance.device.name, recorded.name, sessions));
    const std::vector<double> values = values_of(row), values_now = values_of(*other);
    if (!next && !can_judge(values, values_now)) {
      return add_invalid(std::move(candidate), other->value->median, one_sample);
    }
    judge(candidate, other->value->median, next, knows, values, values_now);
    if (recorded.source_digest != again->source_digest) {
      candidate.causes.emplace_back(other_code_cause);
    }
    add_other_gpu(candidate, gpu_of(recorded_.provenance, recorded));
    candidates_.push_back(std::move(candidate));
  }

  static std::vector<double> values_of(const MicrobenchmarkRow& row) {
    std::vector<double> values;
    for (const Reading& r : row.samples) values.push_back(r.value);
    return values;
  }

  const ResultFile& recorded_;
  const ResultFile& now_;
  std::set<std::string> recorded_gpus_;
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

int Repetition::of_one_run() const {
  return static_cast<int>(std::count_if(rows.begin(), rows.end(), [](const RepeatedRow& row) {
    return is_judged(row.outcome) && row.interval == one_run_each;
  }));
}

Repetition repetition(const ResultFile& recorded, const ResultFile& now,
                      const std::vector<const ResultFile*>& more,
                      const std::map<std::string, std::string>& obstacles,
                      const std::vector<std::string>& only) {
  Repetition result;
  result.differences = differences_of(recorded, now.provenance);
  std::vector<Candidate> candidates = Comparer(recorded, now, more, obstacles, only).rows();
  std::vector<double> p_values;
  for (const Candidate& c : candidates) {
    if (!is_judged(c.row.outcome)) continue;
    p_values.push_back(c.p);
    result.of_other_code += std::any_of(
        c.causes.begin(), c.causes.end(),
        [](const std::string& cause) { return cause.find(other_code_cause) != std::string::npos; });
  }
  const Discoveries discoveries = benjamini_hochberg(p_values, false_discovery_rate);
  std::size_t judged = 0;
  for (Candidate& c : candidates) {
    RepeatedRow& row = c.row;
    if (is_judged(row.outcome)) {
      const bool inside = row.low <= *row.now && *row.now <= row.high;
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
    const auto judged = [&](double value) { return is_judged(row.outcome) ? Cell(value) : Cell(); };
    table.add({word_cell(row.outcome), row.name, text(row.at), row.quantity, text(row.unit),
               row.recorded, judged(row.low), judged(row.high), row.now ? Cell(*row.now) : Cell(),
               text(row.interval), text(row.reason)});
  }
  return table;
}

}  // namespace amasia
