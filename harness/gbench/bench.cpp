#include "harness/gbench/bench.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "harness/plan/sizes.hpp"
#include "harness/registry.hpp"
#include "harness/report/google_benchmark.hpp"
#include "harness/results/floor.hpp"
#include "harness/session/point.hpp"
#include "harness/session/row.hpp"
#include "harness/text/file.hpp"
#include "harness/text/output.hpp"

namespace amasia {
namespace {

/// "wrong result: (0, 3): got 3, expected 4"
std::string with_mismatch(const Row& row) {
  const bool known = row.verdict && !row.verdict->first_mismatches.empty();
  return row.reason + (known ? ": " + row.verdict->first_mismatches.front() : "");
}

bool is_one_of(const std::vector<const Variant*>& variants, const std::string& name) {
  return std::any_of(variants.begin(), variants.end(),
                     [&](const Variant* v) { return v->name() == name; });
}

/// Whether other rows depend on what this one runs.
bool decides(const PlannedRow& row, const std::vector<PlannedRow>& planned) {
  return row.role == Role::best ||
         std::any_of(planned.begin(), planned.end(),
                     [&](const PlannedRow& other) { return other.matches == row.variant; });
}

/// The mean of what every iteration gave; nothing where one gave nothing.
class Mean {
 public:
  void add(const std::optional<double>& value) {
    if (value) sum_ += *value, ++known_;
    ++all_;
  }
  std::optional<double> value() const {
    if (known_ < all_ || all_ == 0) return std::nullopt;
    return sum_ / static_cast<double>(all_);
  }

 private:
  double sum_ = 0;
  std::int64_t known_ = 0, all_ = 0;
};

void set(benchmark::State& state, const char* counter, const std::optional<double>& value) {
  if (value) state.counters[counter] = *value;
}

}  // namespace

Bench::Bench(Instrument& instrument, std::vector<Ceiling> ceilings, bool one_run)
    : instrument_(instrument),
      ceilings_(std::move(ceilings)),
      completion_(instrument.device(), ceilings_,
                  CodeEvidence(executable_path(), instrument.device().compute_capability)),
      one_run_(one_run) {}

void Bench::add(const std::string& name, bool one_run, Function run) {
  benchmark::internal::Benchmark* added =
      benchmark::RegisterBenchmark(name.c_str(), std::move(run))->UseManualTime();
  if (one_run) added->Iterations(1);
  ++registered_;
}

void Bench::add(const PlannedGroup& plan, const std::vector<const Variant*>& selected) {
  const App& app = *find_app(plan.key.app);
  const auto group = std::make_shared<Group>();
  group->plan = plan;
  // The library repeats what it runs: there is no A/A control beside it.
  std::erase_if(group->plan.rows, [](const PlannedRow& row) { return row.repeat > 0; });
  group->work = app.work(plan.key.size);
  group->floor = compute_floor(group->work, ceilings_);
  group->plan.rows = resolved(*group);
  std::erase_if(group->plan.rows,
                [&](const PlannedRow& row) { return !is_one_of(selected, row.variant); });
  for (std::size_t i = 0; i < group->plan.rows.size(); ++i) {
    const PlannedRow& planned = group->plan.rows[i];
    const std::string name = benchmark_name(plan.key, row_of(planned));
    add(name, one_run_, [this, name, group, i](benchmark::State& state) {
      guarded(state, name, [&] { run(state, name, *group, static_cast<int>(i)); });
    });
  }
}

void Bench::add(const PlannedMicrobenchmark& plan) {
  int left_out = 0;
  std::string reason;
  const std::vector<Point> points = planned_points(plan, instrument_.device());
  for (const Point& point : points) {
    if (const MicrobenchmarkRow row = row_of(point, instrument_.device());
        row.status != RowStatus::ok) {
      if (++left_out == 1) reason = row.reason;
      continue;
    }
    const std::string name = benchmark_name(plan.name, point.at);
    const auto own = std::make_shared<const Point>(point);
    add(name, true, [this, name, own](benchmark::State& state) {
      guarded(state, name, [&] { run(state, name, *own); });
    });
  }
  if (left_out > 0) {
    print_prose("note: {}: {} of {} points are left out: {}\n", plan.name, left_out, points.size(),
                in_one_line(reason));
  }
}

/// The rows with what matched ones and counterparts run, without those that fall away.
std::vector<PlannedRow> Bench::resolved(const Group& group) {
  const std::vector<PlannedRow>& planned = group.plan.rows;
  std::vector<PlannedRow> rows;
  std::copy_if(planned.begin(), planned.end(), std::back_inserter(rows),
               [](const PlannedRow& row) { return row.matches.empty(); });
  if (rows.size() == planned.size()) return rows;
  try {
    open(group);
    std::vector<Row> done;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      const bool depends = !planned[i].matches.empty();
      if (!depends && !decides(planned[i], planned)) continue;
      std::optional<PlannedRow> row = decided(planned[i], done);
      if (!row) continue;
      done.push_back(row_of(*row));
      if (!depends) {
        verify_first(static_cast<int>(i), done.back(), *rows_, instrument_);
      } else {
        row->matches.clear();
        rows.push_back(*std::move(row));
      }
    }
  } catch (const std::runtime_error& error) {
    if (instrument_.trouble_of(error) == Trouble::device) throw;
    print_prose("note: {}: rows that depend on others are left out: {}\n",
                group.plan.key.to_string(), in_one_line(error.what()));
  }
  close();
  return rows;
}

void Bench::open(const Group& group) {
  if (group_ == &group) return;
  close();
  const GroupKey& key = group.plan.key;
  const Device& device = instrument_.device();
  if (!fits(*find_app(key.app), key.size, device)) {
    throw Unavailable(fmt::format("needs {} bytes of device memory, {} are available",
                                  find_app(key.app)->device_bytes(key.size), device.free_bytes));
  }
  rows_ = instrument_.open(group.plan);
  group_ = &group;
}

void Bench::close() {
  group_ = nullptr;
  point_ = nullptr;
  prepared_.clear();
  rows_.reset();
  sampling_ = nullptr;
}

void Bench::end(benchmark::State& state, const std::string& name, RowStatus status,
                const std::string& reason) {
  const std::string line = in_one_line(reason);
  state.SkipWithError(line.c_str());
  if (!ended_.emplace(name, Ended{status, line}).second) return;
  if (status == RowStatus::skipped) {
    print_prose("skipped {}: {}\n", name, line);
  } else {
    all_right_ = false;
    print_prose("FAILED {}: {}\n", name, line);
  }
}

/// Runs `act`, unless it is known how that ends. No exception may pass through the library.
void Bench::guarded(benchmark::State& state, const std::string& name,
                    const std::function<void()>& act) {
  if (const auto known = ended_.find(name); known != ended_.end()) {
    return end(state, name, known->second.status, known->second.reason);
  }
  if (!lost_.empty()) return end(state, name, RowStatus::crashed, lost_);
  try {
    return act();
  } catch (const Unavailable& error) {
    end(state, name, RowStatus::skipped, error.what());
  } catch (const std::exception& error) {
    switch (instrument_.trouble_of(error)) {
      case Trouble::no_memory:
        end(state, name, RowStatus::skipped, error.what());
        break;
      case Trouble::row:
        end(state, name, RowStatus::failed, error.what());
        break;
      case Trouble::device:
        end(state, name, RowStatus::crashed, error.what());
        lost_ = fmt::format("not run: {} broke the device's context", name);
        break;
    }
  }
  close();
}

void Bench::run(benchmark::State& state, const std::string& name, const Group& group, int index) {
  open(group);
  if (!prepared_.contains(index)) {
    const PlannedRow& planned = group.plan.rows[static_cast<std::size_t>(index)];
    Row row = row_of(planned);
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

  Mean time_ms, clock_mhz;
  for ([[maybe_unused]] auto _ : state) {
    const ValidRun run =
        time_validly([&] { return rows_->time(index); }, prepared.fastest_clock_mhz);
    if (!run.failure.empty()) return end(state, name, RowStatus::failed, run.failure);
    if (run.timed.throttled) {
      // Not for the other repetitions: the GPU may have cooled by then.
      const std::string reasons = rows_->throttle_reasons();
      return state.SkipWithError(
          fmt::format("throttled {} times in a row{}: let the GPU cool, or check who else uses it",
                      run.throttled_runs, reasons.empty() ? "" : " (" + reasons + ")")
              .c_str());
    }
    state.SetIterationTime(run.timed.time_ms * 1e-3);
    time_ms.add(run.timed.time_ms);
    clock_mhz.add(run.timed.sm_clock_mhz);
  }
  judge_again(prepared.row, rows_->verify(index));
  if (prepared.row.status != RowStatus::ok) {
    return end(state, name, prepared.row.status, with_mismatch(prepared.row));
  }

  const auto rate = [](double amount) {
    return benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters[counters::bytes] = rate(group.work.bytes_read + group.work.bytes_written);
  state.counters[counters::operations] = rate(group.work.operations);
  if (group.floor) set(state, counters::floor, group.floor->floor_ms() / time_ms.value().value());
  set(state, counters::sm_clock, clock_mhz.value());
  state.SetLabel(prepared.row.config);
}

void Bench::run(benchmark::State& state, const std::string& name, const Point& point) {
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
  Reading reading;
  for ([[maybe_unused]] auto _ : state) {
    reading = sampling_();
    if (const std::string why = objection_to(reading, point_row_); !why.empty()) {
      return end(state, name, RowStatus::failed, why);
    }
    state.SetIterationTime(nanoseconds_of(reading, point.unit).value_or(0) * 1e-9);
  }
  state.counters[counters::value] = reading.value;
  set(state, counters::cycles, reading.cycles);
  set(state, counters::sm_clock, reading.clock_mhz);
  const bool timed = nanoseconds_of(reading, point.unit).has_value();
  state.SetLabel(benchmark_label(point_row_, timed));
}

}  // namespace amasia
