// Measures the points of one microbenchmark on an instrument: prepare, one unrecorded sample, then
// samples until the interval is narrow. Crash safety is the caller's: it runs this in a child.
#pragma once

#include "harness/gpu/instrument.hpp"
#include "harness/plan/plan.hpp"
#include "harness/process/isolation.hpp"

namespace amasia {

/// What goes wrong with a point short of breaking the device's context is in the row's status.
/// Throws what the point throws when the context is broken. Summaries, proofs and findings are the
/// caller's, who has the machine code (harness/session/completion.hpp).
MicrobenchmarkResult run_microbenchmark(const PlannedMicrobenchmark& plan, Instrument& instrument,
                                        const ProgressSink& progress);

}  // namespace amasia
