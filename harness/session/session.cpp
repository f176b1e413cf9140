#include "harness/session/session.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <new>
#include <set>
#include <stdexcept>

#include <fmt/format.h>

#include "harness/conclusions/comparison.hpp"
#include "harness/conclusions/journal.hpp"
#include "harness/conclusions/recomputed.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/process/isolation.hpp"
#include "harness/registry.hpp"
#include "harness/results/codec.hpp"
#include "harness/results/result.hpp"
#include "harness/session/completion.hpp"
#include "harness/session/group_loop.hpp"
#include "harness/session/validity.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"
#include "harness/user_kernel/load.hpp"

namespace amasia {
namespace {

constexpr double ceiling_seconds = 60;  // for one of them; all are expected to take ten
constexpr double device_seconds = 60;   // a first context on a big machine can take many seconds

ChildOutcome perform(const Json& task, double seconds, const SessionOptions& options,
                     const LineSink& on_line) {
  return options.in_process ? run_in_process(task, perform_task, on_line)
                            : run_in_child(task, seconds, on_line);
}

/// The same of a task that has no rows: ends with it when it was interrupted or is a mistake.
ChildOutcome perform_whole(const Json& task, double seconds, const SessionOptions& options) {
  ChildOutcome outcome = perform(task, seconds, options, [](const std::string&) {});
  if (outcome.interrupted) throw Interrupted();
  if (outcome.usage_error) throw UsageError(outcome.failure);
  return outcome;
}

/// Of an app loaded at run time it says what from.
Json group_task(const PlannedGroup& plan, int device_index) {
  Json task{{"task", "group"}, {"index", device_index}, {"plan", to_json(plan)}};
  const App* const app = find_app(plan.key.app);
  if (app != nullptr && !app->description().empty()) {
    task["user_kernel"] = {{"description", app->description()},
                           {"digest", digest_of_user_app(plan.key.app)}};
  }
  return task;
}

/// How a plan is performed by children, and what is made of what became of one.
template <class Result>
struct IsolatedSteps {
  std::function<ChildOutcome()> run;
  std::function<Result(const ChildOutcome&)> result;  // throws ResultError
  std::function<Result(RowStatus status, const std::string& reason)> without_rows;
  /// Leaves out of the plan what took the process down; why it cannot, or "".
  std::function<std::string(const ChildOutcome&)> leave_out;
};

template <class Result>
Result until_finished(const IsolatedSteps<Result>& steps, const LineSink& on_line,
                      bool& was_interrupted) {
  bool tried_again = false;
  for (;;) {
    const ChildOutcome outcome = steps.run();
    if (outcome.finished) {
      try {
        return steps.result(outcome);
      } catch (const ResultError& error) {
        return steps.without_rows(
            RowStatus::crashed,
            fmt::format("the process answered what is no result: {}", error.what()));
      }
    }
    if (outcome.interrupted) {
      was_interrupted = true;
      return steps.without_rows(RowStatus::skipped, "interrupted");
    }
    if (outcome.usage_error) throw UsageError(outcome.failure);
    // Once for each plan: the kill need not have been for the row that was at work.
    if (outcome.killed && !std::exchange(tried_again, true)) {
      on_line(outcome.failure + "; trying again");
      continue;
    }
    const std::string why = steps.leave_out(outcome);
    if (!why.empty()) return steps.without_rows(RowStatus::crashed, why);
  }
}

/// A group none of whose rows ran, with the reason on each.
GroupResult group_without_rows(const PlannedGroup& plan, RowStatus status,
                               const std::string& reason) {
  GroupResult g;
  g.key = plan.key;
  g.preset = plan.preset;
  g.seed = plan.seed;
  g.work = find_app(plan.key.app)->work(plan.key.size);
  g.warnings.push_back(reason);
  for (const PlannedRow& p : plan.rows) {
    Row row = row_of(p);
    give_up(row, status, reason);
    g.rows.push_back(std::move(row));
  }
  return g;
}

/// A user's implementation that prints takes time for it, and delays the reader of its output.
void warn_of_printing(GroupResult& result, const PlannedGroup& plan, const ChildOutcome& outcome) {
  constexpr std::size_t longest = 60;  // of what is quoted
  for (const auto& [index, line] : outcome.printed) {
    const auto row = static_cast<std::size_t>(index);
    if (index < 0 || row >= plan.rows.size() || plan.rows[row].repeat > 0) continue;
    const Variant* const variant = find_variant(plan.rows[row].variant);
    if (variant == nullptr || !variant->user_kernel) continue;
    result.warnings.push_back(fmt::format(
        "{}: {} printed to stdout, \"{}\"{}: printing is part of what is timed",
        variant->user_kernel->place, variant->name(), in_one_line(line.substr(0, longest)),
        line.size() > longest ? " and more" : ""));
  }
}

/// Whether two rows surely run the same config. One that is not named is chosen by what the row is.
bool runs_the_same(const PlannedRow& a, const PlannedRow& b) {
  if (a.variant != b.variant || a.config != b.config) return false;
  return !a.config.empty() ||
         (a.role == b.role && a.schedule == b.schedule && a.matches == b.matches);
}

std::string summary_line(const GroupResult& g) {
  const Row* fastest = nullptr;
  int bad = 0;
  for (const Row& r : g.rows) {
    if (r.status == RowStatus::failed || r.status == RowStatus::crashed) ++bad;
    if (r.status == RowStatus::ok && r.time_ms && r.role != Role::comparator &&
        (fastest == nullptr || r.time_ms->median < fastest->time_ms->median)) {
      fastest = &r;
    }
  }
  std::string line = fastest == nullptr
                         ? fmt::format("{} rows", g.rows.size())
                         : fmt::format("fastest {} ({}) {:.4g} ms, {} rounds, {}", fastest->variant,
                                       fastest->config, fastest->time_ms->median, g.rounds,
                                       word_of(g.stop_reason));
  if (bad > 0) line += fmt::format(", {} FAILED", bad);
  for (const Invalidity& i : g.invalid) line += fmt::format(", INVALID ({})", word_of(i.kind));
  return line;
}

/// Their machine code is read before anything is timed, by all cores at once: app by app, behind
/// its first group, one large module after the other is waited for.
std::vector<std::string> apps_to_measure(const std::vector<PlannedGroup>& plan,
                                         const std::set<std::string>& finished) {
  std::set<std::string> apps;
  for (const PlannedGroup& group : plan) {
    if (!finished.contains(group.key.to_string())) apps.insert(group.key.app);
  }
  return {apps.begin(), apps.end()};
}

/// Why the device does not answer any more; "" where it does. Asked when a row crashed: it may have
/// taken the device along, and then no other group can be measured.
std::string lost_device(const GroupResult& result, const SessionOptions& options) {
  const bool crashed = std::ranges::count(result.rows, RowStatus::crashed, &Row::status) > 0;
  if (!crashed || options.in_process) return "";
  try {
    query_in_child(options);
    return "";
  } catch (const NoDevice& error) {
    return error.what();
  }
}

/// A microbenchmark none of whose points ran, with the reason on each.
MicrobenchmarkResult without_points(const PlannedMicrobenchmark& plan,
                                    const std::vector<Point>& points, const Device& device,
                                    RowStatus status, const std::string& reason) {
  const Microbenchmark& m = *find_microbenchmark(plan.name);
  MicrobenchmarkResult result{m.name, m.question, m.method, plan.scope};
  result.warnings.push_back(reason);
  for (const Point& p : points) {
    MicrobenchmarkRow& row = result.rows.emplace_back(row_of(p, device));
    give_up(row, status, reason);
  }
  return result;
}

std::string summary_line(const MicrobenchmarkResult& result) {
  int ok = 0, skipped = 0, bad = 0;
  for (const MicrobenchmarkRow& row : result.rows) {
    ok += row.status == RowStatus::ok;
    skipped += row.status == RowStatus::skipped;
    bad += row.status == RowStatus::failed || row.status == RowStatus::crashed;
  }
  std::string line = fmt::format("{} points in {:.1f} s", ok, result.wall_s);
  if (skipped > 0) line += fmt::format(", {} skipped", skipped);
  if (bad > 0) line += fmt::format(", {} FAILED", bad);
  return line;
}

/// A session from its journal to its file, in the order in which things are measured.
class Session {
 public:
  Session(const std::vector<PlannedGroup>& plan, Provenance provenance,
          const SessionOptions& options, const std::vector<PlannedMicrobenchmark>& microbenchmarks)
      : plan_(plan), microbenchmarks_(microbenchmarks), options_(options) {
    file_.provenance = std::move(provenance);
    around_.state_at_start = file_.provenance.device_state;
    if (!options.out.empty()) open_journal();
    double expected = expected_ceiling_seconds;
    for (const PlannedGroup& g : plan) expected += expected_seconds(g);
    for (const PlannedMicrobenchmark& m : microbenchmarks) expected += seconds_of(m);
    progress_.emplace(static_cast<int>(plan.size() + microbenchmarks.size()) + 1, expected);
  }

  SessionOutcome run() {
    if (journal_) say_what_is_damaged();
    CodeEvidence code(executable_path(), device().compute_capability);
    if (const auto apps = apps_to_measure(plan_, finished_); apps.size() > 1) code.read_ahead(apps);
    for (const GroupResult& g : file_.groups) learn(around_, g);
    take_ceilings();
    Completion completion(device(), file_.ceilings, std::move(code));
    // Groups of a journal whose ceilings were not believed have lost their floors with them.
    for (GroupResult& group : file_.groups) {
      if (!group.floor) completion.bound(group);
    }
    for (const PlannedMicrobenchmark& m : microbenchmarks_) {
      if (is_over()) break;
      if (finished_.contains("microbench/" + m.name)) continue;
      if (!measure(m, completion)) break;
    }
    for (const PlannedGroup& group : plan_) {
      if (is_over()) break;
      if (finished_.contains(group.key.to_string())) continue;
      if (!measure(group, completion)) break;
    }
    if (journal_ && !outcome_.interrupted && outcome_.device_lost.empty()) journal_->finish(file_);
    return std::move(outcome_);
  }

 private:
  const Device& device() const { return file_.provenance.device; }
  double seconds_of(const PlannedMicrobenchmark& m) const {
    return expected_seconds(m, planned_points(m, device()).size());
  }
  LineSink note() {
    return [this](const std::string& line) { progress_->note(line); };
  }
  bool is_over() {
    outcome_.interrupted = outcome_.interrupted || interrupted();
    return outcome_.interrupted;
  }

  void open_journal() {
    journal_.emplace(options_.out, file_.provenance, options_.existing);
    const ResultFile& finished = journal_->finished();
    file_.ceilings = finished.ceilings;
    file_.groups = finished.groups;
    file_.microbenchmarks = finished.microbenchmarks;
    for (const GroupResult& g : file_.groups) finished_.insert(g.key.to_string());
    for (const MicrobenchmarkResult& m : file_.microbenchmarks) {
      finished_.insert("microbench/" + m.name);
    }
  }

  void say_what_is_damaged() const {
    for (const std::string& what : journal_->damaged()) {
      print_prose("not believed, and measured again: {}\n", what);
    }
    if (journal_->damaged().empty()) return;
    print_prose("the journal as it was is kept in {}.journal.damaged\n", options_.out);
  }

  void take_ceilings() {
    progress_->begin("ceilings of this GPU", expected_ceiling_seconds);
    if (file_.ceilings.empty() && options_.ceilings) {
      measure_ceilings();
      return;
    }
    around_.ceilings = ceilings_in_doubt(file_.ceilings, device(), options_.records);
    progress_->end(file_.ceilings.empty() ? "left out" : "from the journal");
  }

  void measure_ceilings() {
    const Json task{
        {"task", "ceilings"}, {"index", options_.device_index}, {"samples", ceiling_samples}};
    ChildOutcome measured;
    // What cannot be, or is out of line, is measured once more.
    for (int attempt = 0; attempt < 2; ++attempt) {
      measured = perform(task, ceiling_seconds, options_, note());
      if (!measured.finished) break;
      file_.ceilings.clear();
      for (const Json& c : measured.result) file_.ceilings.push_back(ceiling_from_json(c));
      around_.ceilings = ceilings_in_doubt(file_.ceilings, device(), options_.records);
      if (around_.ceilings.empty()) break;
      progress_->note(to_string(around_.ceilings.front()) + "; measuring them again");
    }
    if (!file_.ceilings.empty() && journal_) journal_->append(file_.ceilings);
    outcome_.interrupted = measured.interrupted;
    const std::string doubts =
        around_.ceilings.empty() ? "" : fmt::format(", {} in doubt", around_.ceilings.size());
    progress_->end(measured.finished ? fmt::format("{} measured{}", file_.ceilings.size(), doubts)
                                     : "not measured: " + measured.failure);
  }

  /// False when nothing more is to be measured. The same below.
  bool measure(const PlannedMicrobenchmark& m, Completion& completion) {
    progress_->begin(m.name, seconds_of(m));
    MicrobenchmarkResult result = run_isolated(m, device(), options_, note(), outcome_.interrupted);
    if (outcome_.interrupted) {
      progress_->end("interrupted");
      return false;
    }
    completion.complete(result, planned_points(m, device()));
    keep(std::move(result), file_.microbenchmarks);
    return true;
  }

  bool measure(const PlannedGroup& group, Completion& completion) {
    progress_->begin(group.key.to_string(), expected_seconds(group));
    GroupResult result;
    const std::int64_t needed = find_app(group.key.app)->device_bytes(group.key.size);
    if (const auto available = static_cast<std::int64_t>(device().free_bytes); needed > available) {
      result = group_without_rows(
          group, RowStatus::skipped,
          fmt::format("needs {} bytes of device memory, {} are available", needed, available));
      completion.complete(result);
    } else {
      result = run_judged(
          group, options_, [&](GroupResult& g) { completion.complete(g); }, around_, note(),
          outcome_.interrupted);
      if (!outcome_.interrupted) outcome_.device_lost = lost_device(result, options_);
      if (outcome_.interrupted || !outcome_.device_lost.empty()) {
        progress_->end(outcome_.interrupted ? "interrupted" : "the GPU does not answer any more");
        return false;
      }
    }
    keep(std::move(result), file_.groups);
    return true;
  }

  template <class Result>
  void keep(Result result, std::vector<Result>& results) {
    if (journal_) journal_->append(result);
    progress_->end(summary_line(result));
    results.push_back(std::move(result));
  }

  const std::vector<PlannedGroup>& plan_;
  const std::vector<PlannedMicrobenchmark>& microbenchmarks_;
  const SessionOptions& options_;
  SessionOutcome outcome_{};
  ResultFile& file_ = outcome_.file;
  std::optional<Journal> journal_{};
  std::set<std::string> finished_{};
  std::optional<Progress> progress_{};
  Circumstances around_{};
};

/// Linux grants more memory than there is, and ends the process that uses it. With a limit at what
/// there is an allocation fails instead.
void limit_memory() {
  std::uint64_t available = 0, container = 0;
  std::ifstream all("/proc/meminfo");
  for (std::string name, rest; all >> name; std::getline(all, rest)) {
    std::uint64_t kilobytes = 0;
    if (name == "MemAvailable:" || name == "SwapFree:") all >> kilobytes;
    available += kilobytes << 10;
  }
  if (available == 0) return;                                     // not known
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> container) {  // "max" is no number
    available = std::min(available, container);
  }
  rlimit limit{};
  ::getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, available);
  ::setrlimit(RLIMIT_DATA, &limit);
}

Json check_reference(const Json& task) {
  const std::string name = task.at("app").get<std::string>();
  const App* app = find_app(name);
  if (app == nullptr) throw UsageError("app '" + name + "' is not part of this program");
  const auto size = task.at("size").get<std::map<std::string, std::string>>();
  const Parameters parameters(app->parameters(), size);
  limit_memory();
  const Verdict v = [&] {
    const auto refuse = [&](const std::exception& error) {
      return UsageError(fmt::format("{} {}: {}; choose a smaller --size", name,
                                    parameters.to_string(), reason_of(error)));
    };
    try {
      return app->check_reference(parameters, task.at("seed").get<std::uint64_t>());
    } catch (const std::bad_alloc& error) {
      throw refuse(error);
    } catch (const std::length_error& error) {
      throw refuse(error);
    }
  }();
  return to_json(v);
}

/// Stands or falls with the process: the library's constructors do as they like.
Json load_library(const Json& task) {
  const Description d = read_description(task.at("description").get<std::string>());
  const auto& i = d.implementations.at(task.at("implementation").get<std::size_t>());
  return {{"objection", objection_to_library(i)}};
}

}  // namespace

Provenance query_in_child(const SessionOptions& options) {
  const ChildOutcome outcome = perform_whole(
      Json{{"task", "device"}, {"index", options.device_index}}, device_seconds, options);
  if (!outcome.finished) throw NoDevice(outcome.failure);
  return provenance_from_json(outcome.result);
}

Verdict check_reference(const std::string& app, const Parameters& size, std::uint64_t seed,
                        const SessionOptions& options) {
  const Json task{{"task", "reference"},
                  {"app", app},
                  {"size", std::map(size.values().begin(), size.values().end())},
                  {"seed", seed}};
  const ChildOutcome outcome = perform_whole(task, options.step_seconds, options);
  if (outcome.finished) return verdict_from_json(outcome.result);
  Verdict none;
  none.norm = "no verdict";
  none.first_mismatches.push_back(
      outcome.failure +
      (outcome.timed_out ? ": choose a smaller --size or a longer --group-timeout" : ""));
  return none;
}

void load_libraries(const Description& d, UserApp& app, const SessionOptions& options) {
  for (std::size_t i = 0; i < d.implementations.size(); ++i) {
    const ImplementationDescription& about = d.implementations[i];
    if (!about.is_library) continue;
    const Json task{{"task", "library"}, {"description", d.path}, {"implementation", i}};
    const ChildOutcome outcome =
        perform(task, options.step_seconds, options, [](const std::string&) {});
    if (outcome.interrupted) throw Interrupted();
    std::string& broken = app.implementations[i].broken;
    if (outcome.finished && outcome.result.is_object() && outcome.result.contains("objection")) {
      broken = outcome.result["objection"].get<std::string>();
    } else {
      broken = fmt::format(
          "{} was being loaded (its constructors ran): {}", about.file,
          outcome.failure.empty() ? "the process answered what is no result" : outcome.failure);
    }
  }
}

GroupResult run_isolated(PlannedGroup plan, const SessionOptions& options, const LineSink& on_line,
                         bool& was_interrupted) {
  const auto run = [&](const Json& task, double seconds) {
    return perform(task, seconds, options, on_line);
  };
  return run_isolated(std::move(plan), options, run, on_line, was_interrupted);
}

GroupResult run_isolated(PlannedGroup plan, const SessionOptions& options, const TaskRunner& run,
                         const LineSink& on_line, bool& was_interrupted) {
  IsolatedSteps<GroupResult> steps;
  steps.run = [&] { return run(group_task(plan, options.device_index), options.step_seconds); };
  steps.result = [&](const ChildOutcome& outcome) {
    GroupResult result = group_from_json(outcome.result);
    warn_of_printing(result, plan, outcome);
    summarise(result, plan.effort.confidence);
    return result;
  };
  steps.without_rows = [&](RowStatus status, const std::string& reason) {
    return group_without_rows(plan, status, reason);
  };
  steps.leave_out = [&](const ChildOutcome& outcome) -> std::string {
    if (outcome.row < 0) {
      return fmt::format("{}, before a row ran (its instance is made at {})", outcome.failure,
                         place_of(plan.key.app));
    }
    const auto index = static_cast<std::size_t>(outcome.row);
    if (index >= plan.rows.size() || !plan.rows[index].excluded.empty()) return outcome.failure;
    const PlannedRow culprit = plan.rows[index];
    on_line(fmt::format("{} ({}) took the process down; going on without it", culprit.variant,
                        word_of(culprit.role)));
    // The same code would crash again in its other rows of the same config: the A/A control.
    for (PlannedRow& row : plan.rows) {
      if (!runs_the_same(row, culprit) && &row != &plan.rows[index]) continue;
      row.excluded = fmt::format("{} ({})", outcome.failure, place_of(culprit.variant));
    }
    return "";
  };
  return until_finished(steps, on_line, was_interrupted);
}

GroupResult run_judged(const PlannedGroup& plan, const SessionOptions& options,
                       const std::function<void(GroupResult&)>& complete, Circumstances& around,
                       const LineSink& on_line, bool& was_interrupted) {
  std::vector<Invalidity> first;
  for (;;) {
    GroupResult result = run_isolated(plan, options, on_line, was_interrupted);
    if (was_interrupted) return result;
    complete(result);
    std::vector<Invalidity> invalid = invalidities_of(result, around);
    learn(around, result);
    if (worth_repeating(invalid) && first.empty()) {
      on_line(fmt::format("not valid ({}); measuring it again", to_string(invalid.front())));
      first = std::move(invalid);
      continue;
    }
    result.repeated_because = std::move(first);
    mark(result, std::move(invalid));
    return result;
  }
}

MicrobenchmarkResult run_isolated(PlannedMicrobenchmark plan, const Device& device,
                                  const SessionOptions& options, const LineSink& on_line,
                                  bool& was_interrupted) {
  const std::vector<Point> points = planned_points(plan, device);
  IsolatedSteps<MicrobenchmarkResult> steps;
  steps.run = [&] {
    const Json task{
        {"task", "microbenchmark"}, {"index", options.device_index}, {"plan", to_json(plan)}};
    // Of a point nothing is heard between its first sample and its last.
    return perform(task, plan.effort.seconds + 1 + options.step_seconds, options, on_line);
  };
  steps.result = [&](const ChildOutcome& outcome) {
    MicrobenchmarkResult result = microbenchmark_from_json(outcome.result);
    recompute(result, plan.effort.confidence);
    return result;
  };
  steps.without_rows = [&](RowStatus status, const std::string& reason) {
    return without_points(plan, points, device, status, reason);
  };
  steps.leave_out = [&](const ChildOutcome& outcome) -> std::string {
    const auto culprit = static_cast<std::size_t>(outcome.row);
    if (outcome.row < 0 || culprit >= points.size() || plan.is_excluded(culprit)) {
      return outcome.failure;
    }
    on_line(fmt::format("{} [{}] took the process down; going on without it", plan.name,
                        to_string(points[culprit].at)));
    plan.excluded.resize(std::max(plan.excluded.size(), culprit + 1));
    plan.excluded[culprit] = outcome.failure;
    return "";
  };
  return until_finished(steps, on_line, was_interrupted);
}

SessionOutcome run_session(const std::vector<PlannedGroup>& plan, Provenance provenance,
                           const SessionOptions& options,
                           const std::vector<PlannedMicrobenchmark>& microbenchmarks) {
  return Session(plan, std::move(provenance), options, microbenchmarks).run();
}

Json perform_task(const Json& task, const ProgressSink& progress) {
  const std::string name = task.at("task").get<std::string>();
  if (name == "reference") return check_reference(task);
  if (name == "library") return load_library(task);
  const std::unique_ptr<Instrument> instrument = open_instrument(task.at("index").get<int>());
  if (name == "device") {
    Provenance p;
    p.device = instrument->device();
    p.device_state = instrument->state();
    return to_json(p);
  }
  if (name == "ceilings") {
    Json array = Json::array();
    for (const Ceiling& c :
         measure_ceilings(*instrument, task.at("samples").get<int>(), progress)) {
      array.push_back(to_json(c));
    }
    return array;
  }
  if (name == "group") {
    if (const auto user_kernel = task.find("user_kernel"); user_kernel != task.end()) {
      load_user_app_again(task.at("plan").at("key").at("app").get<std::string>(),
                          user_kernel->at("description").get<std::string>(),
                          user_kernel->at("digest").get<std::string>());
    }
    return to_json(run_group(planned_group_from_json(task.at("plan")), *instrument, progress));
  }
  if (name == "microbenchmark") {
    return to_json(run_microbenchmark(planned_microbenchmark_from_json(task.at("plan")),
                                      *instrument, progress));
  }
  throw std::logic_error(fmt::format("unknown task '{}'", name));
}

Progress::Progress(int cases, double expected_seconds)
    : cases_(cases), expected_left_(expected_seconds), terminal_(isatty(STDERR_FILENO) != 0) {}

void Progress::begin(const std::string& name, double expected_seconds) {
  ++current_;
  name_ = name;
  expected_current_ = expected_seconds;
  watch_ = {};
  if (terminal_) rewrite(fmt::format("[{}/{}] {}  ETA {}", current_, cases_, name_, eta()));
}

void Progress::note(const std::string& line) {
  if (terminal_) rewrite(fmt::format("[{}/{}] {}: {}", current_, cases_, name_, line));
}

void Progress::end(const std::string& line) {
  spent_ += watch_.seconds();
  expected_left_ -= expected_current_;
  expected_done_ += expected_current_;
  if (terminal_) rewrite("");
  print_prose("[{}/{}] {}: {} (ETA {})\n", current_, cases_, name_, line, eta());
}

std::string Progress::eta() const {
  // Once cases are done, what they took corrects what was expected of the rest.
  const double scale = expected_done_ > 0 ? spent_ / expected_done_ : 1;
  const int seconds = static_cast<int>(std::max(0.0, expected_left_ * scale));
  return fmt::format("{}:{:02d}", seconds / 60, seconds % 60);
}

void Progress::rewrite(const std::string& line) {
  constexpr std::size_t terminal_columns = 110;
  // CR and "erase to end of line": cursor control, not colour.
  print_prose("\r{}\x1b[K", line.substr(0, terminal_columns));
}

}  // namespace amasia
