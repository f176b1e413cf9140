// Result files in Google Benchmark's schema.
#pragma once

#include <string>

#include "harness/results/result.hpp"

namespace amasia {

/// One entry per sample that was not throttled, so that Google Benchmark's tools/compare.py runs
/// its U test on them. A kernel has no CPU time; cpu_time repeats real_time. Rows without a time
/// are left out.
std::string to_google_benchmark(const ResultFile&);

/// "hotspot/tma/best/rows=512,cols=512/cold/stream": the name of a row's entries there.
std::string benchmark_name(const GroupKey& key, const Row& row);

}  // namespace amasia
