// What happens to one point of a microbenchmark on the device, whoever decides how often it is
// sampled: the loop over its points (harness/session/microbenchmark_loop.hpp) and amasia-gbench.
#pragma once

#include <string>

#include "harness/gpu/instrument.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// The row of a point before it runs: skipped, with the reason, where this device cannot.
MicrobenchmarkRow row_of(const Point& point, const Device& device);

/// Adds the point's kernels to the row's evidence, prepares it and takes the unrecorded sample.
/// Throws what the point throws.
Sampling prepare_point(const Point& point, Instrument& instrument, MicrobenchmarkRow& row);

/// Why a reading of this row cannot be, a sentence; "" when it can.
std::string objection_to(const Reading& reading, const MicrobenchmarkRow& row);

}  // namespace amasia
