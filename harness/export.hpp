// Other forms of a result file: CSV, Markdown, Google Benchmark's JSON.
#pragma once

#include <string>

#include "harness/result.hpp"

namespace amasia {

std::string to_csv_samples(const ResultFile&);   // one row per sample
std::string to_csv_summary(const ResultFile&);   // one row per variant, role and group
std::string to_markdown(const ResultFile&);      // for people: tables, A/A noise above the results
std::string to_google_benchmark(const ResultFile&);  // one entry per sample, for compare.py

/// "tma ran 1.18x [1.16, 1.20] faster than baseline": one sentence per resolved best comparison.
std::vector<std::string> sentences(const GroupResult&);

}  // namespace amasia
