#include "harness/session/group_loop.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/gpu/verification.hpp"
#include "harness/registry.hpp"
#include "harness/results/result.hpp"
#include "harness/session/session.hpp"
#include "harness/session/validity.hpp"
#include "harness/statistics/schedule.hpp"
#include "harness/statistics/statistics.hpp"

namespace amasia {
namespace {

/// Probes may take this share of the time that the group and the start of its process have taken.
constexpr double probe_share = 0.015, process_start_s = 0.3;
/// Of a probe, before its launch has returned.
constexpr double launch_s = 10e-6;
/// Behind each sample one probe, behind each verified row this many; in a long group fewer, as many
/// again for each time that it gets three times as long.
constexpr int probes_of_row = 2, probes_in_full = 600;

StoppingRule stopping_rule(const Effort& effort) {
  return {.min_count = effort.min_rounds,
          .max_count = effort.max_rounds,
          .seconds = effort.seconds,
          .patience = effort.patience,
          .least_count = std::min(effort.min_rounds, least_dependent),
          .precision = effort.precision,
          .confidence = effort.confidence};
}

const Row* right_row(const std::string& variant, Role role, const std::vector<Row>& rows) {
  const auto found = std::ranges::find_if(rows, [&](const Row& row) {
    return row.variant == variant && row.role == role && row.repeat == 0 &&
           row.status == RowStatus::ok;
  });
  return found == rows.end() ? nullptr : &*found;
}

std::optional<PlannedRow> decided_match(PlannedRow planned, const std::vector<Row>& rows) {
  const Row* matched = right_row(planned.matches, Role::best, rows);
  const Row* own = right_row(planned.variant, Role::best, rows);
  if (matched == nullptr || own == nullptr || matched->schedule.empty() || own->schedule.empty() ||
      own->schedule == matched->schedule) {
    return {};
  }
  for (const Row& row : rows) {
    if (row.variant == planned.variant && row.role == Role::matched &&
        row.schedule == matched->schedule) {
      return {};
    }
  }
  planned.schedule = matched->schedule;
  return planned;
}

std::optional<PlannedRow> decided_counterpart(PlannedRow planned, const std::vector<Row>& rows) {
  const Row* spelling = right_row(planned.matches, Role::comparator, rows);
  if (spelling == nullptr) return {};
  for (const Row& row : rows) {
    if (row.variant == planned.variant && row.config == spelling->config &&
        row.role != Role::cross) {
      return {};
    }
  }
  planned.config = spelling->config;
  planned.config_source = "that of " + planned.matches;
  return planned;
}

/// The planned row with what `rows` decide: the schedule of a matched one, the config of a
/// counterpart. Nothing where it would repeat one or has nothing to match.
std::optional<PlannedRow> decided(const PlannedRow& planned, const std::vector<Row>& rows) {
  if (planned.matches.empty()) return planned;
  return planned.role == Role::counterpart ? decided_counterpart(planned, rows)
                                           : decided_match(planned, rows);
}

class GroupLoop {
 public:
  GroupLoop(const PlannedGroup& plan, Instrument& instrument, const ProgressSink& progress)
      : plan_(plan),
        instrument_(instrument),
        progress_(progress),
        rule_(stopping_rule(plan.effort)) {
    result_.key = plan.key;
    result_.preset = plan.preset;
    result_.seed = plan.seed;
    // A search compares medians to choose, and claims nothing: it is not to take more rounds.
    const bool compares = std::ranges::any_of(
        plan.rows, [](const PlannedRow& r) { return r.role != Role::candidate; });
    if (compares) result_.interval_rule = newest_rule;
  }

  GroupResult run() {
    const App* app = find_app(plan_.key.app);
    if (app == nullptr) {
      throw UsageError(fmt::format("app '{}' is not part of this program", plan_.key.app));
    }
    result_.work = app->work(plan_.key.size);
    distrust_ = contradiction_in(result_.work, memory_of(*app));
    if (!distrust_.empty()) distrust_ += fmt::format(" ({})", place_of(plan_.key.app));
    progress_(-1, "generating inputs");
    open_group(*app);

    for (const PlannedRow& planned : plan_.rows) {
      const auto now = decided(planned, result_.rows);
      if (now) prepare(*now, static_cast<int>(&planned - plan_.rows.data()));
    }
    if (plan_.effort.count_only) {
      count_all();
      result_.wall_s = watch_.seconds();
      return std::move(result_);
    }
    if (!plan_.effort.verify_only) time_all();
    verify_kept();
    if (!plan_.effort.verify_only) verify_again();
    export_outputs();
    for (Row& row : result_.rows) {
      if (row.status == RowStatus::ok) continue;
      row.samples.clear();  // a wrong result has no time
      row.repeat_samples.clear();
      say_where(row);
    }
    warn();
    result_.probe = readings_of(probes_);
    if (!plan_.effort.verify_only) result_.device_state = group_->device_state();
    result_.wall_s = watch_.seconds();
    return std::move(result_);
  }

 private:
  /// Bytes of device memory that the app says it takes. A caller that passes functions owns their
  /// memory, and its size is not known.
  std::int64_t memory_of(const App& app) const {
    const std::int64_t bytes = app.device_bytes(plan_.key.size);
    const bool is_unknown =
        bytes == 0 && std::ranges::any_of(plan_.rows, [](const PlannedRow& row) {
          const Variant* variant = find_variant(row.variant);
          return variant != nullptr && variant->user_kernel;
        });
    return is_unknown ? std::numeric_limits<std::int64_t>::max() : bytes;
  }

  /// The plan has asked the app how much memory it needs: whether that was true shows here.
  void open_group(const App& app) {
    const std::size_t free = instrument_.device().free_bytes;
    try {
      group_ = instrument_.open(plan_);
    } catch (const std::runtime_error& error) {
      if (instrument_.trouble_of(error) != Trouble::no_memory) throw;
      throw std::runtime_error(fmt::format(
          "{}: device_bytes() of {} says {} bytes, and {} were free; either it says too little, or "
          "another process took the memory",
          error.what(), app.name(), app.device_bytes(plan_.key.size), free));
    }
  }

  /// Of an implementation loaded at run time, where it is described.
  static void say_where(Row& row) {
    const Variant* const variant = find_variant(row.variant);
    if (variant == nullptr || !variant->user_kernel || variant->user_kernel->place.empty()) return;
    const std::string& place = variant->user_kernel->place;
    if (!row.reason.starts_with(place)) row.reason = fmt::format("{}: {}", place, row.reason);
  }

  /// Progress of a row, by its place in the plan: the result has no rows that fell away.
  void report(int index, const std::string& text) const {
    progress_(planned_index_[static_cast<std::size_t>(index)], text);
  }

  /// What a profiler counts comes in the order of the rows that are right. It starts this process
  /// several times, and counts on the same rows each time.
  void count_all() {
    for (const int index : active_) {
      report(index, "counting");
      group_->count(index);
    }
  }

  /// What the app writes comes from one run that is named: the first right row's, once more.
  void export_outputs() {
    for (const int index : active_) {
      if (row(index).status != RowStatus::ok) continue;
      report(index, "writing outputs");
      if (!group_->verify(index).passed) continue;
      try {
        group_->export_outputs();
      } catch (const std::runtime_error& error) {
        if (instrument_.trouble_of(error) != Trouble::row) throw;
        result_.warnings.push_back(
            fmt::format("the output of {} was not written: {}", row(index).variant, error.what()));
      }
      return;
    }
  }

  Row& row(int index) { return result_.rows[static_cast<std::size_t>(index)]; }
  const Row& row(int index) const { return result_.rows[static_cast<std::size_t>(index)]; }

  void prepare(const PlannedRow& planned, int planned_index) {
    const int index = static_cast<int>(result_.rows.size());
    planned_index_.push_back(planned_index);
    Row row = row_of(planned);
    if (row.status == RowStatus::ok && !distrust_.empty()) {
      give_up(row, RowStatus::failed, distrust_);
    }
    if (row.status == RowStatus::ok) {
      report(index, fmt::format("verifying {} {}", planned.variant, word_of(planned.role)));
      verify_first(index, row, *group_, instrument_);
      if (row.status == RowStatus::ok) try_nothing(row);
      if (row.status == RowStatus::ok) {
        if (!group_->can_be_blocked(index)) result_.launch_blocked = false;
        active_.push_back(index);
        probe(-1, probes_of_row);
      }
    }
    result_.rows.push_back(std::move(row));
  }

  /// Once a group, behind its first right row, whose output would still lie there.
  void try_nothing(Row& row) {
    const Variant* const variant = find_variant(row.variant);
    // Those were tried out with it before they ran, where there is a verification at all.
    if (variant != nullptr && variant->user_kernel && !variant->user_kernel->capturable) return;
    if (std::exchange(nothing_tried_, true) || plan_.effort.count_only) return;
    const Verdict nothing = group_->verify_nothing();
    const auto why = passes_nothing(nothing);
    if (!why) return;
    distrust_ = fmt::format("{} ({})", *why, place_of(plan_.key.app));
    give_up(row, RowStatus::failed, distrust_);
  }

  void time_all() {
    if (active_.empty()) return;
    // An unrecorded round: module load, clocks, first-touch of the flush buffer. One more for each
    // place that buffers move to: who keeps something for an address has it then.
    for (int place = 0; place < (moves() ? instance()->places() : 1); ++place) {
      renew();
      for (const int index : active_) {
        report(index, "warming up");
        group_->time(index);
      }
    }
    const Stopwatch watch;
    std::vector<int> repeated;
    std::ranges::copy_if(active_, std::back_inserter(repeated),
                         [&](int index) { return runs_twice(row(index)); });
    double last_report = 0;
    for (int round = 0;; ++round) {
      renew();
      // Each round so far is the one that is kept with the same probability.
      is_kept_ = random_() % static_cast<unsigned>(round + 1) == 0;
      if (is_kept_) kept_round_ = round;
      int position = 0;
      for (const int index : rows_of_round(active_, repeated, round)) {
        sample(index, round, position++);
      }
      result_.rounds = round + 1;
      mark_throttled();
      const double elapsed = watch.seconds() - keeping_s_;
      if (elapsed - last_report > 0.5) {
        last_report = elapsed;
        report(active_.front(), estimate(elapsed));
      }
      const auto reason = rule_.reason(result_.rounds, elapsed, [&] { return precise_enough(); });
      if (reason) {
        result_.stop_reason = reason;
        return;
      }
    }
  }

  Instance* instance() const { return group_->instance(); }
  /// A graph has its addresses in it.
  bool moves() const { return instance() != nullptr && plan_.key.launch == LaunchMode::stream; }

  /// What runs from now on has an input that none has had. From no seed that could be known before.
  void renew() {
    constexpr int bits_that_every_reader_takes = 48;
    if (instance() == nullptr) return;
    const std::uint64_t seed = std::uint64_t{random_()} << 32 | random_();
    instance()->renew(seed >> (64 - bits_that_every_reader_takes), moves());
  }

  /// Of the round that was kept, against outputs of the reference that were not there before.
  void verify_kept() {
    if (instance() == nullptr || plan_.effort.verify_only) return;
    const Renewal renewal = instance()->renewal();
    result_.inputs = renewal.what;
    if (renewal.warns) {
      result_.warnings.push_back(fmt::format(
          "inputs were {}: an output that is kept from an earlier run would pass", renewal.what));
    }
    for (const int index : active_) {
      Row& row = this->row(index);
      if (row.status != RowStatus::ok) continue;
      report(index, fmt::format("verifying a timed round of {}", row.variant));
      std::optional<Verdict> verdict;
      try {
        verdict = instance()->verify_kept(index);
      } catch (const std::runtime_error& error) {
        if (instrument_.trouble_of(error) != Trouble::row) throw;
        result_.warnings.push_back(fmt::format("timed round {} of {} was not verified: {}",
                                               kept_round_, row.variant, error.what()));
      }
      if (!verdict) continue;
      row.verified_round = kept_round_;
      if (verdict->passed) continue;
      give_up(row, RowStatus::failed,
              fmt::format(
                  "wrong result after timing, right before: in timed round {}, chosen at random",
                  kept_round_));
      row.verdict = std::move(verdict);
    }
  }

  void sample(int index, int round, int position) {
    if (row(index).status != RowStatus::ok) return;
    report(index, "");
    // The earlier of two in a round is the row's sample, whichever place of the order it has.
    const bool second = !row(index).samples.empty() && row(index).samples.back().round == round;
    const int attempts = repeating_helps(index) ? throttled_attempts : 1;
    const ValidRun run = time_validly(
        [&, attempt = 0]() mutable {
          if (attempt++ > 0) renew();
          return second ? group_->time_again(index) : group_->time(index);
        },
        fastest_clock_[index], attempts);
    if (attempts > 1) throttled_samples_ += run.throttled_runs;
    if (!run.failure.empty()) return give_up(row(index), RowStatus::failed, run.failure);
    const TimedRun& timed = run.timed;
    if (row(index).left_set.empty()) row(index).left_set = timed.left_set;
    if (is_kept_ && !second && instance() != nullptr) {
      const Stopwatch watch;
      instance()->keep(index);
      keeping_s_ += watch.seconds();
    }
    Sample taken{round, position, static_cast<float>(timed.time_ms), {}, timed.throttled};
    if (timed.sm_clock_mhz) taken.sm_clock_mhz = in_tenths(*timed.sm_clock_mhz);
    add(index, second, taken);
    probe(round, 1);
  }

  void add(int index, bool second, const Sample& s) {
    Slow& slow = slow_[index];
    (second ? row(index).repeat_samples : row(index).samples).push_back(s);
    (second ? slow.repeats : slow.samples).push_back(s.throttled);
  }

  /// Work that takes more power than the GPU may use is throttled whenever it runs. Without those
  /// samples a summary would be of the few moments in which it was not: the seldom state. So where
  /// a row was throttled in most rounds all samples count, none marked; of all rows of the group,
  /// because a ratio of the usual state of one to the seldom state of another is no gain.
  void mark_throttled() {
    const bool usual = !usually_throttled().empty();
    const auto mark = [usual](std::vector<Sample>& samples, const std::vector<bool>& throttled) {
      for (std::size_t i = 0; i < samples.size(); ++i) {
        samples[i].throttled = throttled[i] && !usual;
      }
    };
    for (const auto& [index, slow] : slow_) {
      mark(row(index).samples, slow.samples);
      mark(row(index).repeat_samples, slow.repeats);
    }
  }

  /// The rows that were throttled in most rounds.
  std::vector<int> usually_throttled() const {
    std::vector<int> usual;
    for (const auto& [index, slow] : slow_) {
      const auto throttled = std::ranges::count(slow.samples, true);
      if (2 * static_cast<std::size_t>(throttled) > slow.samples.size()) usual.push_back(index);
    }
    return usual;
  }

  /// Not where the last samples of the row stayed throttled through all repeats.
  bool repeating_helps(int index) const {
    constexpr std::ptrdiff_t in_vain = 3;
    const auto found = slow_.find(index);
    if (found == slow_.end()) return true;
    const std::vector<bool>& slow = found->second.samples;
    return static_cast<std::ptrdiff_t>(slow.size()) < in_vain ||
           !std::all_of(slow.end() - in_vain, slow.end(), [](bool throttled) { return throttled; });
  }

  /// Probes the device as often as there is time for.
  void probe(int round, int most) {
    if (plan_.effort.verify_only || plan_.effort.count_only) return;
    for (int i = 0; i < most; ++i) {
      const double now = watch_.seconds();
      const bool too_soon = static_cast<int>(probes_.size()) >= probes_in_full &&
                            now < last_probe_s_ + now / probes_in_full;
      if (too_soon || probing_s_ > probe_share * (now + process_start_s)) return;
      const std::optional<ProbeTimes> times = group_->probe();
      if (!times) return;
      probes_.emplace_back(round, *times);
      last_probe_s_ = now;
      probing_s_ += launch_s + 1e-6 * (times->done_us - times->launched_us);
    }
  }

  /// By the group's rule, and by ranks alone: where they run out and Student's t has an interval,
  /// more rounds bring ranks back.
  bool precise_enough() const {
    if (!result_.interval_rule) return precise_enough(std::nullopt);
    return precise_enough(IntervalRule::widened) && precise_enough(result_.interval_rule);
  }

  bool precise_enough(std::optional<IntervalRule> rule) const {
    std::vector<RatioInterval> speedups;
    for (const Comparison& c : compare_rows(result_.rows, plan_.effort.confidence, rule)) {
      speedups.push_back(c.speedup);
    }
    if (!speedups.empty()) return rule_.precise(speedups);
    // Candidates only: each time on its own.
    return std::ranges::all_of(active_, [&](int index) {
      const Row& r = row(index);
      return r.status != RowStatus::ok ||
             (!r.samples.empty() && rule_.precise(time_of(r, plan_.effort.confidence, rule)));
    });
  }

  void verify_again() {
    std::vector<int> timed;
    std::ranges::copy_if(active_, std::back_inserter(timed),
                         [&](int index) { return row(index).status == RowStatus::ok; });
    std::vector<Verdict> verdicts = group_->verify_all(timed, [&](int index) {
      report(index,
             fmt::format("verifying {} {} again", row(index).variant, word_of(row(index).role)));
    });
    for (std::size_t i = 0; i < timed.size(); ++i) conclude(timed[i], std::move(verdicts[i]));
  }

  void conclude(int index, Verdict after) {
    Row& row = this->row(index);
    judge_again(row, std::move(after));
    probe(std::max(0, result_.rounds - 1), probes_of_row);
    if (row.status != RowStatus::ok) {
      spoiled_.insert(row.variant);
    } else if (plan_.effort.energy) {
      report(index, fmt::format("energy of {} {}", row.variant, word_of(row.role)));
      row.energy_mj = group_->energy_mj(index);
    }
  }

  void warn() {
    for (const Row& row : result_.rows) {
      if (row.left_set.empty() || row.repeat > 0) continue;
      result_.warnings.push_back(fmt::format(
          "{} left {}: put back before each sample, so that it gains nothing from earlier runs",
          row.variant, row.left_set));
    }
    if (throttled_samples_ > 0) {
      const std::string reasons = group_->throttle_reasons();
      result_.warnings.push_back(
          fmt::format("{} samples were throttled{} and repeated: let the GPU cool, or check who "
                      "else uses it (amasia doctor)",
                      throttled_samples_, reasons.empty() ? "" : " (" + reasons + ")"));
    }
    warn_of_what_is_usual();
    if (spoiled_.size() > 1) {
      result_.warnings.push_back(
          fmt::format("{} variants were right before timing and wrong after: one of them may have "
                      "written where it must not, into what the others read; amasia run with one "
                      "variant at a time, or compute-sanitizer, tells which",
                      spoiled_.size()));
    }
    if (!plan_.effort.verify_only && active_.empty()) {
      result_.warnings.emplace_back("no row could run");
    }
  }

  void warn_of_what_is_usual() {
    const std::vector<int> usual = usually_throttled();
    if (usual.empty()) return;
    const Row& first = row(usual.front());
    const std::vector<bool>& slow = slow_.at(usual.front()).samples;
    result_.warnings.push_back(fmt::format(
        "{} {}{} ran throttled in most rounds ({} of {}): that is the usual state of this work on "
        "this GPU, and all samples of all rows count",
        first.variant, word_of(first.role),
        usual.size() > 1 ? fmt::format(" and {} more rows", usual.size() - 1) : "",
        std::ranges::count(slow, true), slow.size()));
  }

  std::string estimate(double elapsed) const {
    double widest = 0;
    for (const Comparison& c :
         compare_rows(result_.rows, plan_.effort.confidence, result_.interval_rule)) {
      widest = std::max(widest, half_width(c.speedup));
    }
    const Row& first = row(active_.front());
    const auto times = usable_times(first);
    return fmt::format("round {}: {} {} {:.4g} ms, widest interval +-{:.2f} %, {:.0f} s",
                       result_.rounds, first.variant, word_of(first.role),
                       times.empty() ? 0.0 : median_interval(times, 0.95).median, 100 * widest,
                       elapsed);
  }

  const PlannedGroup& plan_;
  Instrument& instrument_;
  const ProgressSink& progress_;
  StoppingRule rule_;
  GroupResult result_;
  std::unique_ptr<GroupInstrument> group_;
  std::random_device random_;
  bool is_kept_ = false;  // outputs of this round may be those that are judged
  int kept_round_ = 0;
  double keeping_s_ = 0;  // what keeping has taken: no part of the time that rounds may take
  std::string distrust_;  // why no row of this app can be believed; empty when all can
  bool nothing_tried_ = false;
  std::vector<int> active_;         // rows that are right and may be timed
  std::vector<int> planned_index_;  // of each row of the result
  std::map<int, double> fastest_clock_;
  /// Of a row's samples, which were throttled; Sample::throttled says which do not count.
  struct Slow {
    std::vector<bool> samples{}, repeats{};
  };
  std::map<int, Slow> slow_;
  int throttled_samples_ = 0;
  std::set<std::string> spoiled_;  // variants that were right before timing and wrong after
  Stopwatch watch_;
  std::vector<std::pair<int, ProbeTimes>> probes_;  // with the round
  double last_probe_s_ = 0, probing_s_ = 0;
};

/// A sample this much slower in clock than the fastest of its row was throttled, whatever NVML
/// says.
constexpr double throttled_clock_share = 0.90;

StoppingRule stopping_rule(const PointEffort& effort) {
  return {.min_count = effort.min_samples,
          .max_count = effort.max_samples,
          .at_max_count = StopReason::sample_limit,
          .seconds = effort.seconds,
          .min_count_in_time = effort.min_samples,
          .precision = effort.precision,
          .confidence = effort.confidence};
}

/// Samples until the interval is narrow, or the limit. Returns how many readings could not be.
int sample(const Sampling& sampling, const StoppingRule& rule, MicrobenchmarkRow& row) {
  const Stopwatch watch;
  std::vector<double> values;
  for (int impossible = 0;;) {
    const ValidReading read = read_validly(sampling, row);
    impossible += read.impossible;
    if (!read.failure.empty()) {
      give_up(row, RowStatus::failed, read.failure);
      return impossible;
    }
    row.samples.push_back(read.reading);
    values.push_back(read.reading.value);
    const auto reason = rule.reason(static_cast<int>(values.size()), watch.seconds(),
                                    [&] { return rule.precise(values); });
    if (reason) {
      row.stop_reason = reason;
      return impossible;
    }
  }
}

/// Puts what was thrown into the row's status. For use in a handler: throws it again where it broke
/// the device's context.
void note_trouble(const std::runtime_error& error, Instrument& instrument, MicrobenchmarkRow& row) {
  row.reason = error.what();
  if (dynamic_cast<const Unavailable*>(&error) != nullptr) {
    row.status = RowStatus::skipped;
    return;
  }
  const Trouble trouble = instrument.trouble_of(error);
  if (trouble == Trouble::device) throw;
  row.status = trouble == Trouble::no_memory ? RowStatus::skipped : RowStatus::failed;
}

}  // namespace

GroupResult run_group(const PlannedGroup& plan, Instrument& instrument,
                      const ProgressSink& progress) {
  return GroupLoop(plan, instrument, progress).run();
}

Row row_of(const PlannedRow& planned) {
  const std::string& schedule = planned.schedule;
  const Variant* const variant = find_variant(planned.variant);
  Row row{planned.variant, planned.role, planned.repeat, planned.config, planned.config_source};
  row.schedule = schedule;
  if (variant != nullptr) row.spells = variant->spells;
  if (!schedule.empty()) {
    row.config_source = "built-in default";
    for (const ScheduleWinner& winner : planned.by_schedule) {
      if (winner.schedule != schedule) continue;
      row.config = winner.config;
      row.config_source = winner.source;
    }
  }
  if (!planned.excluded.empty()) {
    give_up(row, RowStatus::crashed, planned.excluded);
  } else if (variant == nullptr) {
    give_up(row, RowStatus::skipped, "not part of this program");
  }
  return row;
}

void verify_first(int index, Row& row, GroupInstrument& group, Instrument& instrument) {
  try {
    group.prepare(index, row);
    if (row.verdict && !row.verdict->passed) {
      row.status = RowStatus::failed;
      if (row.reason.empty()) row.reason = "wrong result";
    }
  } catch (const std::runtime_error& error) {
    if (instrument.trouble_of(error) != Trouble::no_memory) throw;
    give_up(row, RowStatus::skipped, error.what());
  }
}

void judge_again(Row& row, Verdict after) {
  if (after.passed) return;
  give_up(row, RowStatus::failed, "wrong result after timing, right before: a race");
  row.verdict = std::move(after);
}

ValidRun time_validly(const std::function<TimedRun()>& time, double& fastest_clock_mhz,
                      int attempts) {
  ValidRun run;
  bool is_time = false;
  for (int attempt = 0; attempt < throttled_attempts; ++attempt) {
    run.timed = time();
    is_time = std::isfinite(run.timed.time_ms) && run.timed.time_ms > 0;
    if (!is_time) continue;
    if (run.timed.sm_clock_mhz) {
      const double mhz = *run.timed.sm_clock_mhz;
      fastest_clock_mhz = std::max(fastest_clock_mhz, mhz);
      if (mhz < throttled_clock_share * fastest_clock_mhz) run.timed.throttled = true;
    }
    if (!run.timed.throttled) break;
    ++run.throttled_runs;
    if (attempt + 1 >= attempts) break;
  }
  if (!is_time) {
    run.failure = fmt::format(
        "the GPU's clock gave {} ms for a run, {} times in a row: it jumped, or the run did "
        "nothing",
        run.timed.time_ms, throttled_attempts);
  }
  return run;
}

MicrobenchmarkRow row_of(const Point& point, const Device& device) {
  MicrobenchmarkRow row{point.at, point.quantity, point.unit, point.larger_is_better};
  row.remark = point.remark;
  row.reason = point.unsupported;
  if (row.reason.empty() && device.compute_capability < point.runs_from) {
    row.reason = fmt::format("needs compute capability {}.{}, this is {}.{}", point.runs_from / 10,
                             point.runs_from % 10, device.compute_capability / 10,
                             device.compute_capability % 10);
  }
  if (!row.reason.empty()) row.status = RowStatus::skipped;
  return row;
}

Sampling prepare_point(const Point& point, Instrument& instrument, MicrobenchmarkRow& row) {
  for (const KernelUse& k : point.kernels) row.evidence.push_back(instrument.resources_of(k));
  Sampling sampling = point.prepare(instrument.device(), instrument.stream());
  sampling();  // unrecorded: module load, first touch, clocks
  return sampling;
}

ValidReading read_validly(const Sampling& sampling, const MicrobenchmarkRow& row) {
  ValidReading read;
  do {
    read.reading = sampling();
    if (read.reading.value > 0 && std::isfinite(read.reading.value)) return read;
  } while (++read.impossible < throttled_attempts);
  read.failure = fmt::format("read {} {}, which no {} can be, {} times in a row",
                             read.reading.value, row.unit, row.quantity, throttled_attempts);
  return read;
}

MicrobenchmarkResult run_microbenchmark(const PlannedMicrobenchmark& plan, Instrument& instrument,
                                        const ProgressSink& progress) {
  const Stopwatch watch;
  const Device& device = instrument.device();
  const Microbenchmark& m = *find_microbenchmark(plan.name);
  const std::vector<Point> points = planned_points(plan, device);
  const StoppingRule rule = stopping_rule(plan.effort);
  MicrobenchmarkResult result{m.name, m.question, m.method, plan.scope};
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[i];
    const int index = static_cast<int>(i);
    MicrobenchmarkRow row = row_of(point, device);
    if (plan.is_excluded(i)) {
      give_up(row, RowStatus::crashed, plan.excluded[i]);
    } else if (row.status == RowStatus::ok) {
      progress(index, fmt::format("point {}/{}: {}", i + 1, points.size(), to_string(point.at)));
      try {
        const int impossible = sample(prepare_point(point, instrument, row), rule, row);
        if (impossible > 0 && row.status == RowStatus::ok) {
          result.warnings.push_back(fmt::format(
              "{}: {} of {} readings were no {} and were taken again", to_string(point.at),
              impossible, impossible + row.samples.size(), row.quantity));
        }
      } catch (const std::runtime_error& error) {
        note_trouble(error, instrument, row);
      }
      if (row.status != RowStatus::ok) row.samples.clear();
    }
    result.rows.push_back(std::move(row));
  }
  if (const std::string who = instrument.other_processes(); !who.empty()) {
    if (auto why = interference_in({}, std::nullopt, who)) result.invalid = {std::move(*why)};
  }
  result.wall_s = watch.seconds();
  return result;
}

}  // namespace amasia
