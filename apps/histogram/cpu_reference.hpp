// The CPU references of histogram, two of them, how a result is judged by them, and what the device
// instance hands to the host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/histogram/histogram.hpp"

namespace amasia::histogram {

/// All keys of a setup, sign-extended: generated, or from the file. For files and small sizes.
std::vector<std::int32_t> host_keys(const Setup& setup);

/// counts(bins + 1): OpenMP, one private histogram per thread.
std::vector<std::uint32_t> count_keys(const Setup& setup);

/// The same of the keys of challenge `number`, 1 ... challenge_count. These are the counters the
/// keys were made for: no bin is worked out.
std::vector<std::uint32_t> count_challenge(const Setup& setup, int number);

/// The same by another route: the keys are sorted, and a bin's count is the distance of its limits,
/// which are found by division and binary search. Serial; for checking the reference.
std::vector<std::uint32_t> count_by_sorting(const Setup& setup);

/// Exact comparison; the last element is named as the counter of keys outside the range. Where the
/// sums differ as well, keys were lost or counted twice, and a last line says how many.
Verdict compare(const std::vector<std::uint32_t>& got, const std::vector<std::uint32_t>& expected);

/// What the host can ask of the device instance.
class CountsSource {
 public:
  virtual ~CountsSource() = default;
  virtual std::vector<std::uint32_t> counts() const = 0;  // of the last run, (bins + 1)
};

/// Writes counts(bins + 1) as text: a line "bin count" per bin, 0 ... bins-1, and last the line
/// "bins count" of the keys outside the range. Throws UsageError when the file cannot be written
/// completely.
void write_counts(const std::string& path, const std::vector<std::uint32_t>& counts);

/// The verdict of comparing the two references with each other, which `verify --reference` reports.
Verdict check_references(const Parameters& p, std::uint64_t seed);

}  // namespace amasia::histogram
