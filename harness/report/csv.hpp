// Result files as CSV: one line per row of a group, per sample, per point of a microbenchmark.
#pragma once

#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

// Each table begins with the columns gpu, driver, toolkit and commit, so that files of many GPUs
// and commits can be put below each other.

Table summary_table(const ResultFile&);  // one line per row of each group, timed or not
Table sample_table(const ResultFile&);   // throttled ones too
Table point_table(const ResultFile&);

}  // namespace amasia
