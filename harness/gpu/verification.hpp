// How the output of a run is judged, whatever device performs the run. An app may be a user's code.
// Its own verification is tested, too: it must reject a run that did nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "harness/app.hpp"

namespace amasia {

/// Restores and poisons what the instance writes, then performs the work, and returns when it is
/// done.
using Performed = std::function<void()>;

/// A run to judge, on so many challenges and on the timed input.
struct Judged {
  Performed run{};
  int challenges = 0;
};

/// The verdict of each run. Every challenge is posed once for all of them, because that can take
/// longer than a run; the timed input comes last, and the outputs of the last run on it stay.
inline std::vector<Verdict> verdicts_of(Instance& instance, const std::vector<Judged>& runs) {
  std::vector<Verdict> verdicts(runs.size());
  int most = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    verdicts[i].passed = true;
    most = std::max(most, runs[i].challenges);
  }
  for (int posed = most; posed >= 0; --posed) {
    instance.pose(posed);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (posed > runs[i].challenges || !verdicts[i].passed) continue;
      const std::int64_t before = verdicts[i].checked;
      runs[i].run();
      verdicts[i] = instance.verify();
      verdicts[i].checked += before;
      if (posed > 0 && !verdicts[i].passed) {
        verdicts[i].norm += fmt::format(", on challenge {}", posed);
      }
    }
  }
  return verdicts;
}

inline Verdict verdict_of(Instance& instance, int challenges, const Performed& run) {
  return verdicts_of(instance, {{run, challenges}}).front();
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

/// Remark on a row that is timed without being captured.
inline constexpr const char* not_captured =
    "it cannot be captured into a graph: its launches are not counted";

/// Of a launch whose capture ends with a stream that nobody joined.
inline constexpr const char* not_joined =
    "it works on another stream, which nobody times: it forks one from the stream that it is "
    "given and does not make that wait for it (cudaStreamWaitEvent)";

/// What to do about a launch loaded at run time, where only a graph is timed.
inline std::string no_graph(const std::string& why) {
  return fmt::format("it cannot be captured in a graph: {}; measure it with --launch stream", why);
}

/// Of a launch that failed in a capture, and fails ever since.
inline std::string keeps_error_of_capture(const std::string& why) {
  return fmt::format(
      "it cannot be captured in a graph, and still fails when it is not captured: {}; clear the "
      "error with cudaGetLastError(), cudaPeekAtLastError() leaves it there",
      why);
}

}  // namespace amasia
