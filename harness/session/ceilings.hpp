// The measured limits of a device: every registered probe that it can run.
#pragma once

#include <vector>

#include "harness/gpu/instrument.hpp"
#include "harness/process/task.hpp"

namespace amasia {

/// Each ceiling `samples` times, after one unrecorded measurement.
std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress);

}  // namespace amasia
