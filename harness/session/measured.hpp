// What the parent adds to a measured microbenchmark: summaries of the samples, the proof of each
// row's instructions, findings.
#pragma once

#include "harness/evidence/evidence.hpp"
#include "harness/plan/plan.hpp"

namespace amasia {

/// Medians and intervals from the samples.
void summarise(MicrobenchmarkResult& result, double confidence);

/// Counts the claimed instructions in the code. A row whose claim is wrong becomes `failed` and
/// loses its value: it measured something else. Code that cannot be read leaves the value and says
/// so in the row's remark.
void prove(MicrobenchmarkResult& result, const std::vector<Point>& points, CodeEvidence& evidence);

/// The findings of the rows that have a value.
void find(MicrobenchmarkResult& result, const Device& device);

}  // namespace amasia
