// Measures one planned comparison group on an instrument: verify, then interleaved timing, then
// verify again. Crash safety is the caller's: it runs this in a child process.
#pragma once

#include "harness/gpu/instrument.hpp"
#include "harness/plan/plan.hpp"
#include "harness/process/isolation.hpp"

namespace amasia {

/// Samples, verdicts and what else only the process at the device can know; medians, comparisons
/// and what follows from them are the caller's (harness/session/completion.hpp). Never throws for
/// what a row does wrong short of breaking the device's context: that is in the row's status.
/// Throws what the instrument throws when the context is broken or the instance does not fit.
GroupResult run_group(const PlannedGroup& plan, Instrument& instrument,
                      const ProgressSink& progress);

}  // namespace amasia
