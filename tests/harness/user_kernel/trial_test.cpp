#include "harness/user_kernel/trial.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/messages.hpp"

namespace amasia {
namespace {

/// A device whose answers are members, and which counts what it is asked.
struct TriedDevice {
  std::vector<DoneTimes> until_done{{1, 1.005}};
  DoneTimes idle{0.01, 0.014};
  std::vector<double> run_ms{0.5}, nothing_ms{0.002};
  int done = 0, runs = 0, nothing = 0, held = 0;

  TrialOutcome outcome() {
    const auto next = [](const auto& list, int& calls) {
      return list[static_cast<std::size_t>(calls++) % list.size()];
    };
    TrialSteps steps;
    steps.passes_untouched = [] { return false; };
    steps.until_done = [this, next](bool launched) {
      return launched ? next(until_done, done) : idle;
    };
    steps.returns_while_held = [] { return true; };
    steps.time = [this, next](bool is_held) {
      held += is_held;
      return next(run_ms, runs);
    };
    steps.time_of_nothing = [this, next] { return next(nothing_ms, nothing); };
    return try_out(steps, true);
  }
};

TEST(Trial, FindsWhatMustNotBeTimed) {
  std::vector<double> two_disturbed(21, 0.002);
  two_disturbed[3] = two_disturbed[11] = 7;
  TriedDevice right, outlasting, once_without, slow_to_wait, nothing, disturbed;
  outlasting.until_done = {{1, 1.9}, {1, 1.4}, {1, 1.5}};
  once_without.until_done = {{9, 12}, {1, 1.004}, {1, 1.5}};  // so it is not the launch
  slow_to_wait.until_done = {{1, 1.2}};
  slow_to_wait.idle = {0.01, 0.2};
  nothing.run_ms = nothing.nothing_ms = {0.0021, 0.0019, 0.002};
  disturbed.run_ms = {0.0045};
  disturbed.nothing_ms = two_disturbed;
  const std::pair<TriedDevice*, const char*> cases[] = {
      {&right, ""},        {&outlasting, "goes on for 0.396 ms"},
      {&once_without, ""}, {&slow_to_wait, ""},
      {&disturbed, ""},    {&nothing, "no longer than nothing"}};
  for (const auto& [device, says] : cases) {
    const std::string objection = device->outcome().objection;
    EXPECT_TRUE(contains(objection, says)) << objection;
    EXPECT_EQ(objection.empty(), std::string(says).empty()) << objection;
    EXPECT_EQ(device->held, device->runs);
  }
}

}  // namespace
}  // namespace amasia
