// The measured limits of a device: every registered probe that it can run.
#pragma once

#include <vector>

#include "harness/ceiling.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/process/task.hpp"

namespace amasia {

/// `probes` in the order in which they are measured: rates of the tensor cores last. They run at
/// the power limit, and the SM clock that it lowers takes a while to come back. On an H200 the fp32
/// rate read 56.4 and then 60.9 instead of 65.3 TFLOP/s while it was measured behind that of e4m3.
std::vector<CeilingProbe> in_measuring_order(std::vector<CeilingProbe> probes);

/// How often a ceiling is measured.
inline constexpr int ceiling_samples = 11;

/// Each ceiling `samples` times, after one unrecorded measurement.
std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress);

}  // namespace amasia
