// A result file against what the same cases gave when they were measured again.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/results/result.hpp"
#include "harness/text/table.hpp"

namespace amasia {

/// What became of a row, a comparison or a point that was measured again.
enum class Outcome {
  same,
  edge,
  different,
  not_valid,  // disturbed, or of one sample, then or now: it says nothing
  failed,     // a wrong result or a crash
  not_possible
};
template <>
struct Words<Outcome> {
  static constexpr std::string_view what = "outcome", list[] = {"same",        "same, at the edge",
                                                                "different",   "not valid",
                                                                "failed here", "not possible here"};
};
/// Whether a value of now was held against the recorded one.
constexpr bool is_judged(Outcome outcome) {
  return outcome == Outcome::same || outcome == Outcome::edge || outcome == Outcome::different;
}

struct RepeatedRow {
  std::string quantity;  // "time", "speed-up", or that of a point
  std::string name;      // "nw/tma (best)", "memory/latency [footprint=1024]"
  std::string at;        // the case; "" of a point
  std::string unit;
  double recorded = 0;
  double low = 0, high = 0;  // where it was to fall, if it is judged
  std::optional<double> now{};
  /// What the interval knows: "this GPU" and "another GPU", where sessions tell it; "any GPU",
  /// where this one is among those of the sessions and none was measured twice; "one run each".
  std::string interval;
  Outcome outcome = Outcome::same;
  std::string reason{};  // why different, as far as the files tell, or why it is not judged
};

struct Repetition {
  std::vector<RepeatedRow> rows{};
  /// What differs between the two files and may move every row.
  std::vector<std::string> differences{};
  /// Of the values that were measured again, how many are of other code than the recorded ones.
  int of_other_code = 0;
  int count(Outcome outcome) const;
  /// Of the values that are judged, those by one run on each side.
  int of_one_run() const;
};

/// Every row of `recorded` that has a time, every speed-up and every point with a value, beside
/// `now`. A predictive interval at 90 % leaves out one in ten by chance: outside of it a row is at
/// the edge, and different where it is among those that are told apart at a false discovery rate of
/// 5 %. The sessions of `recorded` and `more` say how far rows move between runs; where they do
/// not, the samples of one run on each side count as independent. Nothing is concluded from a group
/// that is not valid, on either side.
/// `obstacles`: why something of the file was not measured, by its name, "nw/tma (best) at nw
/// rows=64 cold stream" or that of a microbenchmark. `only`: see is_asked().
Repetition repetition(const ResultFile& recorded, const ResultFile& now,
                      const std::vector<const ResultFile*>& more = {},
                      const std::map<std::string, std::string>& obstacles = {},
                      const std::vector<std::string>& only = {});

/// Whether a case ("nw rows=64 cold stream") or a microbenchmark is among those asked for: the
/// whole name matches one of the globs, or there are none.
bool is_asked(const std::vector<std::string>& only, std::string_view name);

Table to_table(const Repetition& repetition);

}  // namespace amasia
