// Measures one planned comparison group on an instrument: verify, then interleaved timing, then
// verify again. Crash safety is the caller's: it runs this in a child process.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/gpu/instrument.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/plan/plan.hpp"
#include "harness/process/isolation.hpp"
#include "harness/results/result.hpp"

namespace amasia {

// The steps of one row on the device: prepared and verified, timed, verified again. The caller, the
// loop over a group or amasia-gbench, decides how often.

/// The row before it runs. Its status is not ok where it must not run, with the reason.
Row row_of(const PlannedRow& planned);

/// GroupInstrument::prepare(), with what can go wrong in the row's status: no memory is a reason to
/// skip it. Throws what else the instrument throws.
void verify_first(int index, Row& row, GroupInstrument& group, Instrument& instrument);

/// What another run behind the timed ones showed: where that is wrong, the row has failed.
void judge_again(Row& row, Verdict after);

/// A run whose time may count.
struct ValidRun {
  TimedRun timed{};        // still marked as throttled where each attempt was
  std::string failure{};   // why no attempt gave a time, a sentence; "" when one did
  int throttled_runs = 0;  // attempts that were throttled
};

/// A throttled run is repeated at most three times; then its time stays, marked.
inline constexpr int throttled_attempts = 4;

/// Calls `time` until a run was not throttled, `attempts` times at most. Throttled: the device says
/// so, or its clock was well below `fastest_clock_mhz` of the row, which is kept up to date.
ValidRun time_validly(const std::function<TimedRun()>& time, double& fastest_clock_mhz,
                      int attempts = throttled_attempts);

/// The row of a point before it runs: skipped, with the reason, where this device cannot.
MicrobenchmarkRow row_of(const Point& point, const Device& device);

/// Adds the point's kernels to the row's evidence, prepares it and takes the unrecorded sample.
/// Throws what the point throws.
Sampling prepare_point(const Point& point, Instrument& instrument, MicrobenchmarkRow& row);

/// A reading that can be.
struct ValidReading {
  Reading reading{};
  std::string failure{};  // why no attempt gave one, a sentence; "" when one did
  int impossible = 0;     // attempts that gave none
};

/// Samples until the value can be, as often as a throttled run is repeated: a slope falls where its
/// shorter run was disturbed.
ValidReading read_validly(const Sampling& sampling, const MicrobenchmarkRow& row);

/// Samples, verdicts and what else only the process at the device can know; medians, comparisons
/// and what follows from them are the caller's (harness/session/completion.hpp). Never throws for
/// what a row does wrong short of breaking the device's context: that is in the row's status.
/// Throws what the instrument throws when the context is broken or the instance does not fit.
GroupResult run_group(const PlannedGroup& plan, Instrument& instrument,
                      const ProgressSink& progress);

/// Measures the points of one microbenchmark: prepare, one unrecorded sample, then samples until
/// the interval is narrow. What goes wrong with a point short of breaking the device's context is
/// in the row's status. Throws what the point throws when the context is broken. Summaries, proofs
/// and findings are the caller's, who has the machine code (harness/session/completion.hpp).
MicrobenchmarkResult run_microbenchmark(const PlannedMicrobenchmark& plan, Instrument& instrument,
                                        const ProgressSink& progress);

}  // namespace amasia
