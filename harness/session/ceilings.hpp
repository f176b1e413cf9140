// The measured limits of a device: every registered probe that it can run.
#pragma once

#include <vector>

#include "harness/ceiling.hpp"
#include "harness/gpu/instrument.hpp"
#include "harness/process/task.hpp"

namespace amasia {

/// `probes` in the order in which they are measured: rates of the tensor cores last, and of them
/// that of e4m3, whose operations a second take most power. They run at the power limit, and the SM
/// clock that it lowers takes a while to come back. Behind the rate of e4m3 an H200 showed 56.4 and
/// then 60.9 instead of 65.3 TFLOP/s of fp32, and an H100 421 to 460 instead of 484 of tf32.
std::vector<CeilingProbe> in_measuring_order(std::vector<CeilingProbe> probes);

/// How often a ceiling is measured.
inline constexpr int ceiling_samples = 11;

/// Each ceiling `samples` times, after one unrecorded measurement.
std::vector<Ceiling> measure_ceilings(Instrument& instrument, int samples,
                                      const ProgressSink& progress);

}  // namespace amasia
