// Result files as CSV: one line per row of a group, per sample, per point of a microbenchmark.
#pragma once

#include <string>

#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

Table summary_table(const ResultFile&);  // one line per row of each group, timed or not
Table sample_table(const ResultFile&);   // throttled ones too
Table point_table(const ResultFile&);

std::string to_csv_summary(const ResultFile&);
std::string to_csv_samples(const ResultFile&);
std::string to_csv_points(const ResultFile&);

}  // namespace amasia
