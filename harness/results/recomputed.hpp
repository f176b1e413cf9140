// A file is believed where its samples bear it out.
#pragma once

#include "harness/results/result.hpp"

namespace amasia {

/// Recomputes from the samples every median with its interval, and every comparison with its
/// verdict and claim. Throws ResultError naming the first that differs, e.g.
/// "groups[3].comparisons[1].speedup.ratio: expected 1.249, as the samples have it, found 9.99".
void check_summaries(const ResultFile& file);

}  // namespace amasia
