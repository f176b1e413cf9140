// The cases of a campaign as Google Benchmarks. The library decides how often something runs and
// makes the statistics; an instrument runs, times and verifies, as in the suite's own loops.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "harness/gpu/instrument.hpp"
#include "harness/plan/plan.hpp"
#include "harness/results/result.hpp"
#include "harness/session/completion.hpp"

namespace amasia {

/// Registers cases with the library and runs them when it asks for them. Lives until the library is
/// done. What the device holds is of one group, or one point, at a time.
class Bench {
 public:
  /// `ceilings`: of this GPU, for the share of the floor; none leaves that counter out. `one_run`:
  /// a repetition is one run of a variant, as a sample of a result file is; else as many as the
  /// library takes for the least time of a repetition.
  Bench(Instrument& instrument, std::vector<Ceiling> ceilings, bool one_run);

  /// The rows of these variants. A matched row's name has the schedule, which follows from what
  /// others are best with: where there are such rows, those run once here.
  void add(const PlannedGroup& plan, const std::vector<const Variant*>& selected);
  /// Its points, but for those that this device cannot run.
  void add(const PlannedMicrobenchmark& plan);

  /// How many there are.
  int registered() const { return registered_; }
  /// Whether nothing was wrong, and nothing broke, in what ran.
  bool all_right() const { return all_right_; }

 private:
  struct Group {
    PlannedGroup plan{};
    Work work{};
    std::optional<Floor> floor{};
  };
  /// A row as it stands on the device.
  struct Prepared {
    Row row{};
    double fastest_clock_mhz = 0;
  };
  /// Why a case has no time, in all of its repetitions.
  struct Ended {
    RowStatus status = RowStatus::ok;
    std::string reason{};
  };
  using Function = std::function<void(benchmark::State&)>;

  void add(const std::string& name, bool one_run, Function run);
  void run(benchmark::State& state, const std::string& name, const Group& group, int index);
  void run(benchmark::State& state, const std::string& name, const Point& point);
  void guarded(benchmark::State& state, const std::string& name, const std::function<void()>& act);
  void end(benchmark::State& state, const std::string& name, RowStatus status,
           const std::string& reason);
  void open(const Group& group);
  void close();
  std::vector<PlannedRow> resolved(const Group& group);

  Instrument& instrument_;
  std::vector<Ceiling> ceilings_;
  Completion completion_;
  bool one_run_;
  int registered_ = 0;
  bool all_right_ = true;
  std::string lost_{};  // why the device answers no more
  std::map<std::string, Ended> ended_{};

  const Group* group_ = nullptr;  // the one whose inputs the device holds
  std::unique_ptr<GroupInstrument> rows_{};
  std::map<int, Prepared> prepared_{};

  const Point* point_ = nullptr;  // the one that is prepared
  Sampling sampling_{};
  MicrobenchmarkRow point_row_{};
};

}  // namespace amasia
