// How results are judged by a reference on the CPU, element by element: by any norm, or by errors
// relative to its largest value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "harness/app.hpp"

namespace amasia {

/// Counts an element with this error in the verdict's norm; text(), of a wrong one, is kept of the
/// first five. `passed` is the caller's.
template <class Text>
void count_element(Verdict& verdict, double error, const Text& text) {
  if (std::isfinite(error)) verdict.error = std::max(verdict.error, error);
  if (error <= verdict.bound) return;  // false for NaN
  if (++verdict.mismatches <= 5) verdict.first_mismatches.push_back(text());
}

/// Compares got(i) with expected(i), both converted to double, for i below `count`: the largest
/// error may be `bound` times the largest expected magnitude. Any non-finite value is a mismatch.
/// Values stand in rows of `columns`, for messages.
template <class Got, class Expected>
Verdict compare_in_max_norm(std::int64_t count, std::int64_t columns, const Got& got,
                            const Expected& expected, double bound) {
  constexpr std::int64_t one_thread = 65536;  // values that are not worth a second one
  double largest = 0, largest_error = 0;
  std::int64_t mismatches = 0;
#pragma omp parallel for reduction(max : largest) if (count > one_thread)
  for (std::int64_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(double{expected(i)}));
  }
  const auto error = [&](std::int64_t i) {
    return std::isfinite(got(i)) ? std::abs(double{got(i)} - expected(i))
                                 : std::numeric_limits<double>::infinity();
  };
#pragma omp parallel for reduction(max : largest_error) reduction(+ : mismatches) \
    if (count > one_thread)
  for (std::int64_t i = 0; i < count; ++i) {
    largest_error = std::max(largest_error, error(i));
    mismatches += !(error(i) <= bound * largest);
  }
  Verdict verdict;
  verdict.norm = "max abs error / max abs reference";
  verdict.error = largest > 0 ? largest_error / largest : largest_error;
  verdict.bound = bound;
  verdict.checked = count;
  verdict.mismatches = mismatches;
  verdict.passed = mismatches == 0;
  for (std::int64_t i = 0; i < count && mismatches > 0; ++i) {
    if (error(i) <= bound * largest) continue;
    verdict.first_mismatches.push_back(fmt::format("({}, {}): got {:.9g}, expected {:.9g}",
                                                   i / columns, i % columns, got(i), expected(i)));
    if (verdict.first_mismatches.size() == 5) break;
  }
  return verdict;
}

}  // namespace amasia
