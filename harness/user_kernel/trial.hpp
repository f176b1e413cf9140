// Finds out, before timing, how an opaque launch behaves: a user's program that cannot be captured
// into a graph. What it does on the device is the caller's steps; how often and what follows is
// decided here.
#pragma once

#include <functional>
#include <string>

namespace amasia {

/// How long a run took by the host's clock, in ms from before it was enqueued.
struct DoneTimes {
  double stream_ms = 0;  // until its stream was done
  double device_ms = 0;  // until the whole device was done
};

struct TrialSteps {
  /// Whether what reset() leaves passes verify(), though nothing ran.
  std::function<bool()> passes_untouched;
  /// One run, alone on the device; or the same without the launch, for what waiting takes.
  std::function<DoneTimes(bool launched)> until_done;
  /// Whether the launch returns while the device is held back and cannot begin with it.
  std::function<bool()> returns_while_held;
  /// Between the events of a sample, in ms: of the launch, held back or not; of no launch at all.
  std::function<double(bool held)> time;
  std::function<double()> time_of_nothing;
};

struct TrialOutcome {
  std::string objection{};     // why it must not be timed, a sentence; "" for none
  bool can_be_blocked = true;  // it can wait in the launch queue until all of it is enqueued
};

/// Remark on a row whose launch cannot wait in the queue.
inline constexpr const char* not_held_back =
    "it waits for the GPU while it enqueues, or enqueues more than the launch queue holds: it was "
    "not held back until all was enqueued, and the host's time is part of what was measured";

/// Tries a launch out some ten times. `poisons`: verify() must refuse what reset() leaves. Objects
/// to work that outlasts its stream by 0.03 ms, to a launch that takes no longer than nothing, and
/// to a verification that passes what nobody computed.
TrialOutcome try_out(const TrialSteps& steps, bool poisons);

}  // namespace amasia
