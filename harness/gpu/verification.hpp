// How the output of a run is judged, whatever device performs the run. An app is somebody else's
// code: beside its variants its own verification is tried, which must not pass what did nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "harness/app.hpp"

namespace amasia {

/// Restores and poisons what the instance writes, then performs the work, and returns when it is
/// done.
using Performed = std::function<void()>;

/// Of that many challenges and of the timed input, which comes last: its outputs stay.
inline Verdict verdict_of(Instance& instance, int challenges, const Performed& run) {
  Verdict verdict;
  verdict.passed = true;
  std::int64_t checked = 0;
  for (int left = challenges; left >= 0; --left) {
    instance.pose(left);
    if (!verdict.passed) continue;  // the timed input is put back all the same
    run();
    verdict = instance.verify();
    checked += verdict.checked;
    if (left > 0 && !verdict.passed) verdict.norm += fmt::format(", on challenge {}", left);
  }
  verdict.checked = checked;
  return verdict;
}

/// A few values can be right by chance: a score of -1 is what poison is, and the decomposition of a
/// matrix of one element is that matrix. So many are not.
inline constexpr std::int64_t few_values = 32;

/// Why the verification of an app proves nothing, asked behind a right run with what it says when
/// `nothing` was performed after another reset(); nothing when it refuses that.
inline std::optional<std::string> passes_nothing(const Verdict& of_nothing) {
  if (!of_nothing.passed) return std::nullopt;
  if (of_nothing.checked > 0 && of_nothing.checked < few_values) return std::nullopt;
  return "a run that does nothing would pass: after reset() alone verify() found a right answer "
         "(reset() has to poison every output, and verify() to read them)";
}

/// What the replay of a run shows, in which there is only what the run enqueued in its stream.
/// Nothing when that gives the right output as well.
inline std::optional<std::string> works_elsewhere(const Verdict& of_replay) {
  if (of_replay.passed) return std::nullopt;
  return "it works outside the stream that it is given, where it is not timed: what it enqueues "
         "there gives, alone, a wrong result (fork other streams from it and join them with "
         "events)";
}

}  // namespace amasia
