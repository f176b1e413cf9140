// The program amasia-gbench: what `amasia run` selects, under Google Benchmark, with its flags, its
// statistics and its output (docs/results.md).
#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/cli/command_line.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/options.hpp"
#include "harness/errors.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/plan/selection.hpp"
#include "harness/registry.hpp"
#include "harness/report/report.hpp"
#include "harness/results/provenance.hpp"
#include "harness/results/result.hpp"
#include "harness/session/completion.hpp"
#include "harness/session/group_loop.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

// The library decides how often something runs and makes the statistics; an instrument runs, times
// and verifies, as in the suite's own loops.

using benchmark::Counter;

constexpr double seconds_per_ms = 1e-3;

/// "hotspot/tma/best/rows=512,cols=512/cold/stream".
std::string name_of(const GroupKey& key, const Row& row) {
  std::string role = role_in_group(row);
  std::ranges::replace(role, ' ', '/');
  return fmt::format("{}/{}/{}/{}/{}", row.variant, role, key.size.to_string(), word_of(key.cache),
                     word_of(key.launch));
}

/// "wrong result: (0, 3): got 3, expected 4"
std::string with_mismatch(const Row& row) {
  const bool known = row.verdict && !row.verdict->first_mismatches.empty();
  return row.reason + (known ? ": " + row.verdict->first_mismatches.front() : "");
}

/// The time that a reading measured; nothing for a capacity or a power.
std::optional<double> seconds_of(const Reading& reading, const std::string& unit) {
  if (reading.time_ns) return *reading.time_ns * 1e-9;
  constexpr std::pair<std::string_view, double> units[] = {
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  for (const auto& [name, seconds] : units) {
    if (unit == name) return reading.value * seconds;
  }
  return std::nullopt;
}

/// Divided by the time of a run when the library reports it.
Counter per_run(double amount) { return {amount, Counter::kIsIterationInvariantRate}; }

/// What the library calls. The device holds one group, or one point, at a time.
class Bench {
 public:
  Bench(Instrument& instrument, bool one_run)
      : instrument_(instrument),
        completion_(instrument.device(), {},
                    CodeEvidence(executable_path(), instrument.device().compute_capability)),
        one_run_(one_run) {}

  void add(const PlannedGroup& plan) {
    const auto group = std::make_shared<Group>();
    group->plan = plan;
    // Neither the A/A control, because the library repeats what it runs, nor what follows others.
    std::erase_if(group->plan.rows,
                  [](const PlannedRow& row) { return row.repeat > 0 || !row.matches.empty(); });
    group->work = find_app(plan.key.app)->work(plan.key.size);
    for (std::size_t i = 0; i < group->plan.rows.size(); ++i) {
      const std::string name = name_of(plan.key, row_of(group->plan.rows[i]));
      add(name, one_run_, [this, name, group, i](benchmark::State& state) {
        guarded(state, name, [&] { run(state, name, *group, static_cast<int>(i)); });
      });
    }
  }

  /// Its points, without those that this device cannot run.
  void add(const PlannedMicrobenchmark& plan) {
    for (const Point& point : planned_points(plan, instrument_.device())) {
      if (row_of(point, instrument_.device()).status != RowStatus::ok) continue;
      const std::string name = fmt::format("{}/{}", plan.name, to_string(point.at));
      const auto own = std::make_shared<const Point>(point);
      add(name, true, [this, name, own](benchmark::State& state) {
        guarded(state, name, [&] { run(state, name, *own); });
      });
    }
  }

  /// Whether every result was right, and nothing broke, in what ran.
  bool all_right() const { return all_right_; }

 private:
  struct Group {
    PlannedGroup plan{};
    Work work{};
  };
  /// A row as it is on the device.
  struct Prepared {
    Row row{};
    double fastest_clock_mhz = 0;
  };

  void add(const std::string& name, bool one_run, std::function<void(benchmark::State&)> run) {
    auto* added = benchmark::RegisterBenchmark(name.c_str(), std::move(run))->UseManualTime();
    if (one_run) added->Iterations(1);
  }

  void open(const Group& group) {
    if (group_ == &group) return;
    close();
    const App& app = *find_app(group.plan.key.app);
    if (!fits(app, group.plan.key.size, instrument_.device())) {
      throw Unavailable("does not fit in device memory");
    }
    rows_ = instrument_.open(group.plan);
    group_ = &group;
  }

  void close() {
    group_ = nullptr;
    point_ = nullptr;
    prepared_.clear();
    rows_.reset();
    sampling_ = nullptr;
  }

  /// Ends this repetition and those that follow.
  void end(benchmark::State& state, const std::string& name, RowStatus status,
           const std::string& reason) {
    const std::string line = in_one_line(reason);
    state.SkipWithError(line.c_str());
    ended_.emplace(name, line);
    const bool skipped = status == RowStatus::skipped;
    all_right_ = all_right_ && skipped;
    print_prose("{} {}: {}\n", skipped ? "skipped" : "FAILED", name, line);
  }

  /// Runs `act`, unless it is known how that ends. No exception may pass through the library.
  void guarded(benchmark::State& state, const std::string& name, const std::function<void()>& act) {
    if (const auto known = ended_.find(name); known != ended_.end()) {
      return state.SkipWithError(known->second.c_str());
    }
    if (!lost_.empty()) return end(state, name, RowStatus::crashed, lost_);
    try {
      return act();
    } catch (const Unavailable& error) {
      end(state, name, RowStatus::skipped, error.what());
    } catch (const std::exception& error) {
      const Trouble trouble = instrument_.trouble_of(error);
      if (trouble == Trouble::device) lost_ = "not run: " + name + " broke the device's context";
      end(state, name, trouble == Trouble::no_memory ? RowStatus::skipped : RowStatus::failed,
          error.what());
    }
    close();
  }

  void run(benchmark::State& state, const std::string& name, const Group& group, int index) {
    open(group);
    if (!prepared_.contains(index)) {
      Row row = row_of(group.plan.rows[static_cast<std::size_t>(index)]);
      if (row.status == RowStatus::ok) verify_first(index, row, *rows_, instrument_);
      if (row.status != RowStatus::ok) return end(state, name, row.status, with_mismatch(row));
      if (!rows_->can_be_blocked(index)) {
        print_prose(
            "note: {}: too many launches to be enqueued before they run: its times have the "
            "host's jitter in them\n",
            name);
      }
      rows_->time(index);  // unrecorded: module load, clocks, first touch of the flush buffer
      prepared_[index].row = std::move(row);
    }
    Prepared& prepared = prepared_[index];
    std::optional<double> clocks = 0;
    for ([[maybe_unused]] auto _ : state) {
      const ValidRun run =
          time_validly([&] { return rows_->time(index); }, prepared.fastest_clock_mhz);
      if (!run.failure.empty()) return end(state, name, RowStatus::failed, run.failure);
      if (run.timed.throttled) {
        // Of this repetition alone: the GPU may have cooled before the next.
        const std::string why = fmt::format("throttled {} times in a row: let the GPU cool; {}",
                                            run.throttled_runs, rows_->throttle_reasons());
        return state.SkipWithError(why.c_str());
      }
      state.SetIterationTime(run.timed.time_ms * seconds_per_ms);
      const std::optional<double>& clock = run.timed.sm_clock_mhz;
      clocks = clocks && clock ? std::optional(*clocks + *clock) : std::nullopt;
    }
    judge_again(prepared.row, rows_->verify(index));
    if (prepared.row.status != RowStatus::ok) {
      return end(state, name, prepared.row.status, with_mismatch(prepared.row));
    }
    state.counters["bytes"] = per_run(group.work.bytes_read + group.work.bytes_written);
    state.counters["operations"] = per_run(group.work.operations);
    if (clocks) state.counters["sm_clock_mhz"] = Counter(*clocks, Counter::kAvgIterations);
    state.SetLabel(prepared.row.config);
  }

  void run(benchmark::State& state, const std::string& name, const Point& point) {
    if (point_ != &point) {
      close();
      point_row_ = row_of(point, instrument_.device());
      sampling_ = prepare_point(point, instrument_, point_row_);
      completion_.prove(point_row_, point);
      point_ = &point;
      if (point_row_.status != RowStatus::ok) {
        return end(state, name, point_row_.status, point_row_.reason);
      }
    }
    using Clock = std::chrono::steady_clock;
    Reading reading;
    for ([[maybe_unused]] auto _ : state) {
      const auto begin = Clock::now();
      const ValidReading read = read_validly(sampling_, point_row_);
      const std::chrono::duration<double> on_host = Clock::now() - begin;
      if (!read.failure.empty()) return end(state, name, RowStatus::failed, read.failure);
      reading = read.reading;
      // compare.py takes the geometric mean of all times: none may be 0.
      state.SetIterationTime(seconds_of(reading, point.unit).value_or(on_host.count()));
    }
    state.counters["value"] = reading.value;
    if (reading.cycles) state.counters["cycles"] = *reading.cycles;
    if (reading.clock_mhz) state.counters["sm_clock_mhz"] = *reading.clock_mhz;
    state.SetLabel(fmt::format("{} in {}", point.quantity, point.unit));
  }

  Instrument& instrument_;
  Completion completion_;
  bool one_run_;
  bool all_right_ = true;
  std::string lost_{};                          // why the device does not answer any more
  std::map<std::string, std::string> ended_{};  // why a case has no time in any repetition

  const Group* group_ = nullptr;  // whose inputs the device holds
  std::unique_ptr<GroupInstrument> rows_{};
  std::map<int, Prepared> prepared_{};

  const Point* point_ = nullptr;  // the one that is prepared
  Sampling sampling_{};
  MicrobenchmarkRow point_row_{};
};

/// Registers what is planned, then runs or lists what the library's filter lets through.
/// `one_run`: a repetition is one run of a variant; else as many runs as the library needs for its
/// minimum time of a repetition.
ExitStatus run_benchmarks(const Campaign& plan, Instrument& instrument, bool one_run) {
  Bench bench(instrument, one_run);
  for (const PlannedMicrobenchmark& m : plan.microbenchmarks) bench.add(m);
  for (const PlannedGroup& group : plan.groups) bench.add(group);
  const std::size_t count = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (!std::cout.flush()) throw OutputError("standard output cannot be written");
  if (count == 0) return exit_usage;  // the library has said that nothing matches its filter
  return bench.all_right() ? exit_ok : exit_wrong_result;
}

/// The least number of rounds of the suite's own loop: enough for compare.py's U test, which
/// wants 9.
constexpr char own_repetitions[] = "--benchmark_repetitions=15";
static_assert(Effort{}.min_rounds == 15);

const Command& gbench() {
  static const Command command{
      .name = "amasia-gbench",
      .summary = "variants and microbenchmarks as Google Benchmarks",
      .description =
          "Registers every app and microbenchmark, or what patterns select, for Google Benchmark's "
          "own flags, which are listed at the end. Every result is verified before and after it "
          "is timed. docs/results.md explains names and counters.",
      .examples = {{{"amasia-gbench --benchmark_filter=/tma/ --benchmark_out=tma.json",
                     "every tma variant at its quick sizes, for compare.py"},
                    {"amasia-gbench 'memory/*' --benchmark_display_aggregates_only=true",
                     "the points of some microbenchmarks, without their single repetitions"}}},
      .declare = {}};
  return command;
}

/// What is registered without a pattern, for --benchmark_filter to choose from.
std::vector<std::string> everything() {
  std::vector<std::string> patterns;
  for (const App* app : apps()) patterns.emplace_back(app->name());
  for (const Microbenchmark* m : microbenchmarks()) patterns.push_back(m->name);
  return patterns;
}

void declare(CLI::App& program, MeasureRequest& r) {
  r.campaign.roles = {Role::iso, Role::best};
  r.campaign.caches = {CacheMode::cold, CacheMode::hot};
  add_patterns(program, r.campaign.patterns);
  add_sizes(program, r.campaign.sizes, Preset::quick);
  add_modes(program, r.campaign);
  add_roles(program, r.campaign.roles);
  add_seed(program, r.campaign.seed);
  add_device_index(program, r.session.device_index);
  add_tuning(program, r.tuning);
}

std::unique_ptr<Instrument> opened(int index) {
  try {
    return open_instrument(index);
  } catch (const UsageError&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw NoDevice(error.what());
  }
}

void add_context(const Provenance& from) {
  benchmark::AddCustomContext("amasia", std::string(suite_version()));
  for (const auto& [column, cell] : origin_of(from)) {
    benchmark::AddCustomContext(column.name, plain_text(cell));
  }
  for (const auto& [name, value] : from.device_state) {
    benchmark::AddCustomContext("device_state." + name, value);
  }
}

bool is_given(const std::vector<std::string>& flags, const char* name) {
  return std::ranges::any_of(flags,
                             [&](const std::string& flag) { return flag.starts_with(name); });
}

/// Hands its flags to the library. Throws UsageError for those that it does not take.
void initialize(char* program, std::vector<std::string> flags) {
  flags.insert(flags.begin(), own_repetitions);  // of two, the library takes the last
  std::vector<char*> pointers;
  pointers.push_back(program);
  for (std::string& flag : flags) pointers.push_back(flag.data());
  int count = static_cast<int>(pointers.size());
  benchmark::Initialize(&count, pointers.data());
  if (count > 1) {
    throw UsageError(fmt::format(
        "Google Benchmark does not take '{}' (amasia-gbench --help lists its flags)", pointers[1]));
  }
}

int run_gbench(int argc, char** argv) {
  std::vector<std::string> flags, own;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool of_library = argument.starts_with("--benchmark_") || argument.starts_with("--v=");
    (of_library ? flags : own).push_back(argument);
  }
  MeasureRequest request;
  CLI::App program(gbench().summary, gbench().name);
  declare(program, request);
  give_help(program, gbench());
  try {
    std::ranges::reverse(own);  // as CLI11 takes them
    program.parse(std::move(own));
  } catch (const CLI::CallForHelp&) {
    write_data(program.help() + "\nFlags of Google Benchmark:\n");
    benchmark::PrintDefaultHelp();
    return exit_ok;
  } catch (const CLI::CallForVersion& version) {
    print_data("{}\n", version.what());
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    throw UsageError(
        fmt::format("{} (amasia-gbench --help)", objection_of(error, program, "amasia-gbench")));
  }
  if (request.campaign.patterns.empty()) request.campaign.patterns = everything();
  const Cases cases = cases_of(request.campaign);
  initialize(argv[0], flags);
  const std::unique_ptr<Instrument> instrument = opened(request.session.device_index);
  Provenance from = collect_provenance({argv, argv + argc}, "", {}, false);
  from.device = instrument->device();
  from.device_state = instrument->state();
  add_context(from);
  const Device& device = from.device;
  refuse_too_large(cases.apps, request.campaign, device);
  const Campaign plan =
      plan_campaign(request.campaign, cases, recorded_winners(request.tuning, device), device.name);
  const bool one_run = !is_given(flags, "--benchmark_min_time");
  return run_benchmarks(plan, *instrument, one_run);
}

}  // namespace
}  // namespace amasia

int main(int argc, char** argv) {
  amasia::secure_standard_streams();
  amasia::keep_freed_memory();
  return amasia::exit_status_of("amasia-gbench", [&] { return amasia::run_gbench(argc, argv); });
}
