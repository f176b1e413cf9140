// What a comparison with a published value takes of a result file (the grammar is in the head of
// inputs/published/comparisons.csv).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/results/result.hpp"

namespace amasia {

struct Selector {
  /// best: the largest of all points that fulfil `at`. derived: computed from several files by the
  /// analysis, never here.
  enum class Kind { point, best, finding, ceiling, speedup, derived } kind = Kind::point;
  std::string name;           // microbenchmark, ceiling, variant or derived value
  std::string quantity;       // of a point or finding; role of a speedup
  bool gbytes_per_s = false;  // byte/clk times the clock it was measured at
  Coordinates at{};           // of a speedup: members of the size, cache, launch, schedule
};
template <>
struct Words<Selector::Kind> {
  static constexpr std::string_view what = "kind of selector",
                                    list[] = {"point",   "best",    "finding",
                                              "ceiling", "speedup", "derived"};
};
/// One selector, or the numerator and denominator. Throws ResultError.
std::vector<Selector> parse_selectors(const std::string& own);

struct OwnValue {
  double value = 0;
  std::string unit{};
};
/// nullopt with `reason` when the file does not have it.
std::optional<OwnValue> own_value(const ResultFile& file, const std::string& own,
                                  std::string& reason);

/// "a=1;b=x y". Throws ResultError "place: expected name=value, ...".
Coordinates conditions_of(const std::string& text, const std::string& place);

const MicrobenchmarkResult* find_result(const ResultFile& file, const std::string& name);

}  // namespace amasia
