// How a result of integers is judged by a reference on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "harness/app.hpp"

namespace amasia {

/// Adds a run of elements to a verdict, each of which has to be what is expected; one that `got`
/// has not is wrong. place(i) names element i: "bin 7".
template <class T, class Place>
void compare_exactly(Verdict& verdict, std::span<const T> got, std::span<const T> expected,
                     const Place& place) {
  verdict.norm = "exact";
  verdict.checked += static_cast<std::int64_t>(expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (i < got.size() && got[i] == expected[i]) continue;
    ++verdict.mismatches;
    if (verdict.first_mismatches.size() == 5) continue;
    const std::string value = i < got.size() ? std::to_string(got[i]) : "nothing";
    verdict.first_mismatches.push_back("(" + place(i) + "): got " + value + ", expected " +
                                       std::to_string(expected[i]));
  }
  verdict.error = static_cast<double>(verdict.mismatches);
  verdict.passed = verdict.mismatches == 0;
}

}  // namespace amasia
