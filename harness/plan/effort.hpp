// How long and how precisely to measure.
#pragma once

#include <optional>

#include "harness/statistics/stopping_rule.hpp"

namespace amasia {

/// For one group.
struct Effort {
  int min_rounds = least_rounds;
  int max_rounds = 301;  // runs of a few microseconds need as many for `precision`; few others do
  double seconds = 20;   // wall-clock cap of the timed part
  double patience = 1;   // times the seconds, if enough rounds are reached by then
  double precision = 0.005;  // stop when every interval's half width is below this share
  double confidence = 0.95;  // joint, over all comparisons of the group
  bool energy = false;
  bool verify_only = false;
  bool count_only = false;  // under a profiler: every right row once between its marks, no time
};

/// For one point of a microbenchmark.
struct PointEffort {
  int min_samples = 7;  // 6 is the least for a sign-test interval at 95 %
  int max_samples = 51;
  double seconds = 0.4;      // wall-clock cap of the samples of one point
  double precision = 0.005;  // stop when the interval's half width is below this share
  double confidence = 0.95;
};

/// What was asked for; the rest is the command's or the study's own.
struct EffortAsked {
  std::optional<int> min_rounds{}, max_rounds{};
  std::optional<double> seconds{}, precision{}, confidence{};
  bool energy = false;
};

/// `own` with what was asked for in its place. A cap below the least number of rounds lowers that,
/// unless it was asked for, too: then they contradict each other (UsageError).
Effort effort_of(const EffortAsked& asked, Effort own);

}  // namespace amasia
