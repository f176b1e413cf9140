// Other forms of a result file: CSV, Markdown, Google Benchmark's JSON.
#pragma once

#include <string>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

Table sample_table(const ResultFile&);   // one row per sample, throttled ones too
Table summary_table(const ResultFile&);  // one row per row of each group, timed or not

Table point_table(const ResultFile&);  // one row per point of each microbenchmark
Table finding_table(const MicrobenchmarkResult&);

std::string to_csv_samples(const ResultFile&);
std::string to_csv_points(const ResultFile&);
std::string to_csv_summary(const ResultFile&);

/// For people: provenance, ceilings, and per group the A/A noise, the floor, the table, failures
/// and warnings. A speed-up that is not resolved, or smaller than the A/A interval, is shown as
/// such.
std::string to_markdown(const ResultFile&);

/// Google Benchmark's schema with one entry per sample that was not throttled, so that its
/// tools/compare.py runs its U test on them. A kernel has no CPU time; cpu_time repeats real_time.
/// Rows without a time are left out.
std::string to_google_benchmark(const ResultFile&);

/// "hotspot/tma/best/rows=512,cols=512/cold/stream": the name of a row's entries there.
std::string benchmark_name(const GroupKey& key, const Row& row);

/// What may be said of a comparison: "faster", "slower", "not resolved", or "within A/A noise" when
/// it is resolved but no larger than what the baseline of that role differed from itself.
std::string claim(const GroupResult& group, const Comparison& comparison);

/// "hotspot rows=512,cols=512 cold stream: tma ran 1.18x [1.16, 1.20] faster than baseline": a
/// sentence for each claim of the role best that is faster or slower.
std::vector<std::string> sentences(const GroupResult&);

}  // namespace amasia
