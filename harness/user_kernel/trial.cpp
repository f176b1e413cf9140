#include "harness/user_kernel/trial.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace amasia {
namespace {

// Waiting for a device that has nothing to do takes a few microseconds, not always the same.
constexpr double idle_ms = 0.03;
// The first run may load code and allocate, and another process may disturb one: the best counts.
constexpr int runs_until_done = 3;
// The median of as many runs against the third largest time of as many times nothing: what does
// nothing is found 99 times in 100, and a kernel, which takes microseconds longer, never is.
constexpr int timed_runs = 7, times_nothing = 21, largest_that_may_be_disturbed = 2;

double nth_smallest(std::vector<double> values, std::size_t n) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(n);
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

/// What goes on when the stream is done, in ms; the least of a few runs.
double overtime(const TrialSteps& steps, bool launched) {
  double least = 0;
  for (int i = 0; i < runs_until_done; ++i) {
    const DoneTimes times = steps.until_done(launched);
    const double over = times.device_ms - times.stream_ms;
    least = i == 0 ? over : std::min(least, over);
  }
  return least;
}

}  // namespace

TrialOutcome try_out(const TrialSteps& steps, bool poisons) {
  TrialOutcome outcome;
  if (poisons && steps.passes_untouched()) {
    outcome.objection =
        "its verification passes what the reset leaves, before anything ran: the reset must poison "
        "the outputs, or the verification looks at nothing";
    return outcome;
  }
  if (const double over = overtime(steps, true) - overtime(steps, false); over > idle_ms) {
    outcome.objection = fmt::format(
        "its work goes on for {:.3g} ms when the stream that it was given is done: it works on "
        "another stream, which must be joined to that one",
        over);
    return outcome;
  }
  outcome.can_be_blocked = steps.returns_while_held();
  std::vector<double> runs, nothing;
  for (int i = 0; i < timed_runs; ++i) runs.push_back(steps.time(outcome.can_be_blocked));
  for (int i = 0; i < times_nothing; ++i) nothing.push_back(steps.time_of_nothing());
  const double typical = nth_smallest(runs, timed_runs / 2);
  const double most = nth_smallest(nothing, times_nothing - 1 - largest_that_may_be_disturbed);
  if (typical <= most) {
    outcome.objection = fmt::format(
        "it takes no longer than nothing on the stream that it was given ({:.3g} us, nothing up to "
        "{:.3g} us): it enqueues nothing, or on another stream",
        1e3 * typical, 1e3 * most);
  }
  return outcome;
}

}  // namespace amasia
