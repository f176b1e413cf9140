// Runs the points of one microbenchmark in this process: prepare, one unrecorded sample, then
// samples until the interval is narrow. Crash safety is the caller's: it runs this in a child.
#pragma once

#include "harness/gpu/group_runner.hpp"
#include "harness/plan/plan.hpp"

namespace amasia {

/// What goes wrong with a point short of breaking the CUDA context is in the row's status. Throws
/// CudaError when the context is broken. Proofs and findings are left to the caller, who has the
/// machine code.
MicrobenchmarkResult run_microbenchmark(const PlannedMicrobenchmark& plan, const Device& device,
                                        const ProgressSink& progress);

}  // namespace amasia
