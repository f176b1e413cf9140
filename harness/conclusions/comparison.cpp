#include "harness/conclusions/comparison.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "harness/statistics/statistics.hpp"

namespace amasia {

namespace {

bool is_baseline(const Row& row) { return row.variant.ends_with("/baseline"); }

/// The baseline's row in a role, of a schedule if one is named; none that is not right.
const Row* baseline_of(const std::vector<Row>& rows, const Row& row, Role role,
                       const std::string& schedule = "") {
  const std::string app = row.variant.substr(0, row.variant.find('/'));
  for (const Row& r : rows) {
    if (r.variant == app + "/baseline" && r.role == role && r.repeat == 0 &&
        r.status == RowStatus::ok && &r != &row && (schedule.empty() || r.schedule == schedule)) {
      return &r;
    }
  }
  return nullptr;
}

/// The strategy that a comparator implements, in the config of the same name, whichever role it has
/// there; not in a table of all schedules, which stands by itself.
const Row* counterpart_of(const std::vector<Row>& rows, const Row& row) {
  if (row.spells.empty()) return nullptr;
  const std::string variant = row.variant.substr(0, row.variant.find('/') + 1) + row.spells;
  const auto found = std::ranges::find_if(rows, [&](const Row& r) {
    return r.variant == variant && r.config == row.config && r.role != Role::cross &&
           r.repeat == 0 && r.status == RowStatus::ok;
  });
  return found == rows.end() ? nullptr : &*found;
}

/// What is compared, in the order of the rows.
std::vector<RowPair> pairs_of(const std::vector<Row>& rows) {
  std::vector<RowPair> pairs;
  for (const Row& row : rows) {
    if (row.status != RowStatus::ok || row.role == Role::candidate) continue;
    if (const Row* reference = reference_of(rows, row))
      pairs.push_back({&row, reference, row.role});
    // Where a strategy is best with another schedule than the baseline, its gain has a part that
    // is of the schedule; against the baseline with the same schedule it is of movement alone.
    if (row.role == Role::best && !is_baseline(row) && !row.schedule.empty()) {
      if (const Row* same = baseline_of(rows, row, Role::matched, row.schedule)) {
        pairs.push_back({&row, same, Role::matched});
      }
    }
    if (const Row* spelled = counterpart_of(rows, row)) {
      pairs.push_back({&row, spelled, Role::counterpart});
    }
  }
  return pairs;
}

/// Whether a ratio is no farther from 1 than the farther end of a row's difference from itself, in
/// either direction: which of the two ran first is no property of theirs.
bool is_no_farther(double ratio, const RatioInterval& itself) {
  const double most = std::max(itself.high, 1 / itself.low);
  return ratio <= most && ratio >= 1 / most;
}

bool contains(const RatioInterval& interval, double ratio) {
  return ratio >= interval.low && ratio <= interval.high;
}

/// The same of a control; one that is not told from itself has its interval.
bool within_noise_of(const RatioInterval& control, double ratio) {
  return control.resolved ? is_no_farther(ratio, control) : contains(control, ratio);
}

/// A row that is not told from itself says nothing here: what it scatters is in the interval
/// already.
bool within_own_noise(const Comparison& comparison) {
  return comparison.itself && comparison.itself->resolved &&
         is_no_farther(comparison.speedup.ratio, *comparison.itself);
}

/// Whether a ratio is within the noise of its control. Only iso, and each schedule of a cross
/// table, has a control of its own: all else has that of the baseline at its best.
bool within_control(const std::vector<Comparison>& comparisons, const Comparison& comparison) {
  const bool by_best = comparison.role != Role::iso && comparison.role != Role::cross;
  const Role role = by_best ? Role::best : comparison.role;
  return std::ranges::any_of(comparisons, [&](const Comparison& control) {
    return control.control && control.role == role &&
           (role != Role::cross || control.schedule == comparison.schedule) &&
           within_noise_of(control.speedup, comparison.speedup.ratio);
  });
}

const Comparison* find_matched(const GroupResult& group, const std::string& variant,
                               const std::string& schedule, const std::string& against_schedule) {
  for (const Comparison& c : group.comparisons) {
    if (c.role == Role::matched && c.variant == variant && c.schedule == schedule &&
        c.against_schedule == against_schedule) {
      return &c;
    }
  }
  return nullptr;
}

/// A GPU held at its power limit throttles every run of a heavy kernel: then that is its speed, and
/// the marks stay as a remark.
bool always_throttled(const Row& row) {
  return std::ranges::all_of(row.samples, [](const Sample& s) { return s.throttled; });
}

/// The first run of a row over its second, in the rounds that have both; nothing where none has.
std::optional<RatioInterval> against_itself(const Row& row, double confidence) {
  Row second;
  second.samples = row.repeat_samples;
  const auto [first, again] = paired_times(row, second);
  if (first.empty()) return std::nullopt;
  return paired_ratio(first, again, confidence);
}

/// Of the candidate, as its interval alone has it.
SpeedVerdict verdict_on(const RatioInterval& speedup) {
  if (!speedup.resolved) return SpeedVerdict::not_resolved;
  return speedup.ratio > 1 ? SpeedVerdict::faster : SpeedVerdict::slower;
}

}  // namespace

std::vector<double> usable_times(const Row& row) {
  const bool all = always_throttled(row);
  std::vector<double> times;
  for (const Sample& s : row.samples) {
    if (all || !s.throttled) times.push_back(s.time_ms);
  }
  return times;
}

std::pair<std::vector<double>, std::vector<double>> paired_times(const Row& a, const Row& b) {
  std::pair<std::vector<double>, std::vector<double>> pairs;
  const bool all_a = always_throttled(a), all_b = always_throttled(b);
  std::size_t j = 0;
  for (const Sample& s : a.samples) {
    while (j < b.samples.size() && b.samples[j].round < s.round) ++j;
    if (j == b.samples.size()) break;
    if (b.samples[j].round == s.round && (all_a || !s.throttled) &&
        (all_b || !b.samples[j].throttled)) {
      pairs.first.push_back(s.time_ms);
      pairs.second.push_back(b.samples[j].time_ms);
    }
  }
  return pairs;
}

std::optional<RowPair> rows_of(const std::vector<Row>& rows, const Comparison& comparison) {
  for (const RowPair& pair : pairs_of(rows)) {
    if (pair.row->variant == comparison.variant && pair.role == comparison.role &&
        pair.row->schedule == comparison.schedule &&
        pair.reference->variant == comparison.against &&
        pair.reference->schedule == comparison.against_schedule &&
        (pair.row->repeat > 0) == comparison.control) {
      return pair;
    }
  }
  return std::nullopt;
}

const Row* reference_of(const std::vector<Row>& rows, const Row& row) {
  switch (row.role) {
    case Role::iso:
    case Role::best:
      return baseline_of(rows, row, row.role);
    case Role::comparator:  // compared with what one would ship: the tuned baseline
      return baseline_of(rows, row, Role::best);
    case Role::cross:
      return baseline_of(rows, row, Role::cross, row.schedule);
    case Role::matched: {
      const Row* best = baseline_of(rows, row, Role::best);
      if (is_baseline(row)) return best;
      return best != nullptr && best->schedule == row.schedule
                 ? best
                 : baseline_of(rows, row, Role::matched, row.schedule);
    }
    case Role::candidate:
    case Role::counterpart:
      break;
  }
  return nullptr;
}

MedianInterval time_of(const Row& row, double confidence, std::optional<IntervalRule> rule) {
  return median_by(rule, usable_times(row), confidence);
}

std::vector<Comparison> compare_rows(const std::vector<Row>& rows, double joint_confidence,
                                     std::optional<IntervalRule> rule) {
  const std::vector<RowPair> pairs = pairs_of(rows);
  const double confidence =
      corrected_confidence(joint_confidence, std::max<int>(1, static_cast<int>(pairs.size())));
  std::vector<Comparison> comparisons;
  for (const auto& [row, reference, role] : pairs) {
    const auto [reference_times, times] = paired_times(*reference, *row);
    if (times.empty()) continue;
    Comparison c;
    c.variant = row->variant;
    c.role = role;
    c.schedule = row->schedule;
    c.against = reference->variant;
    c.against_schedule = reference->schedule;
    c.control = row->repeat > 0;
    c.speedup = ratio_by(rule, reference_times, times, confidence);
    c.itself = against_itself(*row, confidence);
    c.verdict = verdict_on(c.speedup);
    comparisons.push_back(std::move(c));
  }
  for (Comparison& c : comparisons) c.claim = claim_of(comparisons, c);
  return comparisons;
}

SpeedClaim claim_of(const std::vector<Comparison>& comparisons, const Comparison& comparison) {
  const auto said = from_word<SpeedClaim>(word_of(comparison.verdict));  // by the same words
  if (said == SpeedClaim::not_resolved || comparison.control) return said;
  return within_control(comparisons, comparison) || within_own_noise(comparison)
             ? SpeedClaim::within_noise
             : said;
}

std::optional<double> most_difference(const Comparison& comparison) {
  const bool nothing =
      comparison.claim == SpeedClaim::not_resolved || comparison.claim == SpeedClaim::within_noise;
  const RatioInterval& ratio = comparison.speedup;
  if (!nothing || ratio.n < least_dependent) return std::nullopt;
  const double most = std::max(ratio.high, 1 / ratio.low) - 1;
  return most <= most_of_a_tie ? std::optional(most) : std::nullopt;
}

std::string to_string(const Invalidity& invalidity) {
  return fmt::format("{}: {}; {}", word_of(invalidity.kind), invalidity.reason, invalidity.remedy);
}

std::vector<std::string> reservations(const MicrobenchmarkResult& result) {
  std::vector<std::string> all;
  for (const Invalidity& why : result.invalid) all.push_back("not valid: " + to_string(why));
  all.insert(all.end(), result.warnings.begin(), result.warnings.end());
  return all;
}

void set_claims(GroupResult& group) {
  for (Comparison& c : group.comparisons) {
    c.claim = group.invalid.empty() ? claim_of(group.comparisons, c) : SpeedClaim::invalid;
  }
}

std::vector<Gain> gains_of(const GroupResult& group) {
  std::vector<Gain> gains;
  for (const Comparison& total : group.comparisons) {
    if (total.role != Role::best || total.control || total.variant == total.against) continue;
    if (total.schedule.empty() || total.against_schedule.empty()) continue;
    Gain gain;
    gain.variant = total.variant;
    gain.schedule = total.schedule;
    gain.baseline_schedule = total.against_schedule;
    gain.total = &total;
    if (gain.schedule == gain.baseline_schedule) {
      gain.by_movement = &total;
    } else {
      gain.by_schedule = find_matched(group, total.against, gain.schedule, gain.baseline_schedule);
      gain.by_movement = find_matched(group, gain.variant, gain.schedule, gain.schedule);
      gain.at_baseline_schedule =
          find_matched(group, gain.variant, gain.baseline_schedule, gain.baseline_schedule);
    }
    if (gain.by_movement != nullptr) gains.push_back(gain);
  }
  return gains;
}

}  // namespace amasia
