// Runs one planned comparison group in this process: verify, then interleaved timing, then verify
// again. Crash safety is the caller's: it runs this in a child process.
#pragma once

#include <functional>
#include <string>

#include "harness/device.hpp"
#include "harness/plan/plan.hpp"

namespace amasia {

/// Called before each step that could take the process down, with the row at work (-1: none), and
/// with a line for the person who waits.
using ProgressSink = std::function<void(int row, const std::string& line)>;

/// Never throws for what a row does wrong short of breaking the CUDA context: that is in the row's
/// status. Throws CudaError when the context is broken, OutOfMemory when the instance does not fit.
GroupResult run_group(const PlannedGroup& plan, const Device& device, const ProgressSink& progress);

/// Measures every registered ceiling `samples` times.
std::vector<Ceiling> measure_ceilings(const Device& device, int samples,
                                      const ProgressSink& progress);

}  // namespace amasia
