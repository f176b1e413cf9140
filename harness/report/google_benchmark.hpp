// Google Benchmark's schema: result files in it, and what such a file and a live run of
// amasia-gbench (harness/gbench/) name the same, so that the two can be compared.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/microbenchmark.hpp"
#include "harness/results/result.hpp"

namespace amasia {

/// The counters of an entry. Of a variant: compulsory bytes and operations per second; the share of
/// its floor that the time is, where the ceilings of the GPU are known; the SM clock in MHz, where
/// it could be read. Of a point of a microbenchmark: the reading, in the unit that the label names;
/// cycles and SM clock where the reading has them.
namespace counters {
inline constexpr char bytes[] = "bytes", operations[] = "operations", floor[] = "floor",
                      sm_clock[] = "sm_clock_mhz", value[] = "value", cycles[] = "cycles";
inline constexpr const char* all[] = {bytes, operations, floor, sm_clock, value, cycles};
}  // namespace counters

/// "hotspot/tma/best/rows=512,cols=512/cold/stream": the name of a row's entries.
std::string benchmark_name(const GroupKey& key, const Row& row);
/// "memory/latency/level=l1,footprint=16384": the name of a point's entries.
std::string benchmark_name(std::string_view microbenchmark, const Coordinates& at);
/// "latency in cycles", "capacity in KiB (no time)": the label of a point's entries. What is no
/// time has aggregates alone, with a time of 0: compare.py would take the geometric mean of single
/// ones.
std::string benchmark_label(const MicrobenchmarkRow& row, bool timed);
/// Whether that label says that there is no time.
bool says_no_time(std::string_view label);

/// The time of what a reading measured, in nanoseconds; nothing where it is no time and comes with
/// none: a capacity, a power.
std::optional<double> nanoseconds_of(const Reading& reading, const std::string& unit);

/// What an entry's context says of the GPU and the program beside Google Benchmark's own members:
/// GPU, driver, toolkit and commit as the CSV files have them, clocks, and the state of the device.
std::vector<std::pair<std::string, std::string>> benchmark_context(const Provenance& from);

/// One entry per sample that was not throttled, so that Google Benchmark's compare.py runs its U
/// test on them, and the aggregates that Google Benchmark makes of repetitions. A kernel has no CPU
/// time; cpu_time repeats real_time. Rows that did not run, or were wrong, are left out; those of
/// an invalid group are errors. The sessions of a file are repetitions of the same.
std::string to_google_benchmark(const ResultFile&);

/// Whether it would have an entry.
bool has_benchmarks(const ResultFile&);

}  // namespace amasia
