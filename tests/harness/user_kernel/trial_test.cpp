#include "harness/user_kernel/trial.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace amasia {
namespace {

/// A device whose answers are members, and which counts what it is asked.
struct TriedDevice {
  bool passes_untouched = false;
  std::vector<DoneTimes> until_done{{1, 1.005}};
  DoneTimes idle{0.01, 0.014};
  bool returns_while_held = true;
  std::vector<double> run_ms{0.5}, nothing_ms{0.002};
  int untouched = 0, done = 0, runs = 0, nothing = 0, held = 0;

  TrialOutcome outcome(bool poisons = true) {
    const auto next = [](const auto& list, int& calls) {
      return list[static_cast<std::size_t>(calls++) % list.size()];
    };
    TrialSteps steps;
    steps.passes_untouched = [&] { return ++untouched, passes_untouched; };
    steps.until_done = [this, next](bool launched) {
      return launched ? next(until_done, done) : idle;
    };
    steps.returns_while_held = [this] { return returns_while_held; };
    steps.time = [this, next](bool is_held) {
      held += is_held;
      return next(run_ms, runs);
    };
    steps.time_of_nothing = [this, next] { return next(nothing_ms, nothing); };
    return try_out(steps, poisons);
  }
};

TEST(Trial, HasNothingAgainstAKernelOnItsStream) {
  TriedDevice device;
  const TrialOutcome outcome = device.outcome();
  EXPECT_EQ(outcome.objection, "");
  EXPECT_TRUE(outcome.can_be_blocked);
  EXPECT_EQ(device.held, device.runs);
}

TEST(Trial, AVerificationThatPassesWhatNobodyComputedIsAsked) {
  TriedDevice device;
  device.passes_untouched = true;
  EXPECT_NE(device.outcome().objection.find("passes what the reset leaves"), std::string::npos);
  EXPECT_EQ(device.runs + device.done, 0);  // before anything ran
  device.untouched = 0;
  EXPECT_EQ(device.outcome(false).objection, "");  // there is nothing that it must refuse
  EXPECT_EQ(device.untouched, 0);
}

TEST(Trial, WorkThatOutlastsTheStreamIsFoundThoughOneRunWasDisturbed) {
  TriedDevice device;
  device.until_done = {{1, 1.9}, {1, 1.4}, {1, 1.5}};
  EXPECT_NE(device.outcome().objection.find("goes on for 0.396 ms"), std::string::npos);
  device.until_done = {{9, 12}, {1, 1.004}, {1, 1.5}};  // once without: it is not the launch
  EXPECT_EQ(device.outcome().objection, "");
}

TEST(Trial, WhereWaitingTakesLongThatIsNotTheLaunch) {
  TriedDevice device;
  device.until_done = {{1, 1.2}};
  device.idle = {0.01, 0.2};
  EXPECT_EQ(device.outcome().objection, "");
}

TEST(Trial, WhatTakesNoLongerThanNothingIsNoWork) {
  TriedDevice device;
  device.run_ms = {0.0021, 0.0019, 0.002};
  device.nothing_ms = {0.0021, 0.0019, 0.002};
  EXPECT_NE(device.outcome().objection.find("no longer than nothing"), std::string::npos);
  device.run_ms = {0.0045, 0.0046};
  EXPECT_EQ(device.outcome().objection, "");
}

TEST(Trial, ADisturbedRunOfNothingHidesNoKernel) {
  TriedDevice device;
  device.nothing_ms.assign(21, 0.002);
  device.nothing_ms[3] = device.nothing_ms[11] = 7;
  device.run_ms = {0.0045};
  EXPECT_EQ(device.outcome().objection, "");
}

TEST(Trial, WhatWaitsInsideIsNotHeldBack) {
  TriedDevice device;
  device.returns_while_held = false;
  const TrialOutcome outcome = device.outcome();
  EXPECT_EQ(outcome.objection, "");
  EXPECT_FALSE(outcome.can_be_blocked);
  EXPECT_EQ(device.held, 0);
}

}  // namespace
}  // namespace amasia
