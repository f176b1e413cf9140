// Another GPU process is simulated by its effect on probes: it computes for a part of each period,
// and a launch that meets it waits until it is done.
#include "harness/session/interference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/messages.hpp"

namespace amasia {
namespace {

constexpr double host_ahead_us = -1.7e15;  // the GPU's clock counts from 1970, the host's from boot

/// Probes every 3 ms or so on a GPU that is busy for `load` of each period, as the clocks of host
/// and GPU would see them. Launches take 4 to 9 us to start; the host is busy elsewhere now and
/// then.
std::vector<std::pair<int, ProbeTimes>> probes_beside(double load, double period_us, int count,
                                                      unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  const double phase = uniform(random) * period_us;
  std::vector<std::pair<int, ProbeTimes>> probes;
  double now = 5e9;
  for (int i = 0; i < count; ++i) {
    now += 2000 + 2000 * uniform(random);
    ProbeTimes p;
    p.launched_us = now;
    if (uniform(random) < 0.02) p.launched_us += 3000;  // preempted behind the launch
    double begin = now + 4 + 5 * uniform(random);
    const double in_period = std::fmod(begin + phase, period_us);
    if (in_period < load * period_us) begin += load * period_us - in_period;
    const double end = begin + 16;
    p.done_us = end + 3 + 4 * uniform(random);
    if (uniform(random) < 0.02) p.done_us += 5000;  // preempted before it sees the end
    // The two clocks drift apart by 30 parts in a million.
    p.began_us = begin - host_ahead_us + 30e-6 * (begin - 5e9);
    p.ended_us = end - host_ahead_us + 30e-6 * (end - 5e9);
    p.arithmetic_cycles = 8000 * (1 + 0.01 * uniform(random));
    p.memory_us = 8 + 3 * uniform(random);
    probes.emplace_back(i / 10, p);
    now = std::max(now, p.done_us);
  }
  return probes;
}

std::optional<Invalidity> judged(const std::vector<std::pair<int, ProbeTimes>>& probes) {
  const std::vector<ProbeReading> readings = readings_of(probes);
  return interference_in(readings, quieter({}, readings), "");
}

TEST(Interference, IsNotSeenWhereThereIsNone) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto invalid = judged(probes_beside(0, 1000, 200, seed));
    EXPECT_FALSE(invalid) << seed << ": " << invalid->reason;
  }
}

TEST(Interference, IsSeenAtFivePercentAndMore) {
  for (const double load : {0.05, 0.2, 1.0}) {
    for (const double period_us : {20e3, 100e3}) {
      int seen = 0;
      for (unsigned seed = 0; seed < 50; ++seed) {
        const auto invalid = judged(probes_beside(load, period_us, 200, seed));
        seen += invalid.has_value();
        if (invalid) {
          EXPECT_EQ(invalid->kind, InvalidKind::interference);
        }
      }
      EXPECT_GE(seen, load == 0.05 ? 47 : 50) << load << " of " << period_us << " us";
    }
  }
}

TEST(Interference, ThatSharesTheMultiprocessorsIsSeenByTheLengthOfTheWork) {
  auto probes = probes_beside(0, 1000, 200, 3);
  for (std::size_t i = 0; i < probes.size(); i += 10) probes[i].second.arithmetic_cycles *= 1.5;
  EXPECT_TRUE(judged(probes));
  probes = probes_beside(0, 1000, 200, 3);
  for (std::size_t i = 0; i < probes.size(); i += 10) probes[i].second.memory_us *= 3;
  EXPECT_TRUE(judged(probes));
}

TEST(Interference, ThatIsAlwaysThereIsSeenBesideAnEarlierGroup) {
  const auto quiet = quieter({}, readings_of(probes_beside(0, 1000, 200, 1)));
  auto probes = probes_beside(0, 1000, 200, 2);
  for (auto& [round, p] : probes) p.arithmetic_cycles *= 2;
  EXPECT_FALSE(judged(probes));  // it has no other measure than itself
  EXPECT_TRUE(interference_in(readings_of(probes), quiet, ""));
  // Nor is interference the reference: the quietest group is.
  const auto still = quieter(quiet, readings_of(probes));
  EXPECT_EQ(still->arithmetic_cycles, quiet->arithmetic_cycles);
}

TEST(Interference, IsNamedWhereNvmlKnowsIt) {
  const auto invalid = interference_in({}, {}, "1 other process, up to 20 % of the time");
  ASSERT_TRUE(invalid);
  EXPECT_TRUE(contains(invalid->reason, "(NVML: 1 other process, up to 20 % of the time)"));
  EXPECT_FALSE(interference_in({}, {}, ""));
}

TEST(Interference, OneProbeInTwoHundredIsChanceUnlessThereWereSuchBefore) {
  auto probes = probes_beside(0, 1000, 200, 4);
  probes[17].second.memory_us *= 5;
  EXPECT_FALSE(judged(probes));
  const auto readings = readings_of(probes);
  const auto quiet = quieter({}, readings);
  EXPECT_FALSE(interference_in(readings, quiet, "", {200, 0}));
  EXPECT_FALSE(interference_in(readings, quiet, "", {20000, 1}));
  const auto invalid = interference_in(readings, quiet, "", {400, 2});
  ASSERT_TRUE(invalid);
  EXPECT_TRUE(contains(invalid->reason, "1 of 200 probes"));
  EXPECT_TRUE(contains(invalid->reason, "2 of 400 in the groups before"));
  // A group without any is not blamed for those before.
  const auto none = readings_of(probes_beside(0, 1000, 200, 5));
  EXPECT_FALSE(interference_in(none, quiet, "", {400, 20}));
}

TEST(Readings, HaveTheWaitByBothClocks) {
  ProbeTimes quick;
  quick.launched_us = 1000, quick.began_us = 501005, quick.ended_us = 501020, quick.done_us = 1024;
  ProbeTimes late = quick;  // 700 us later, and it waited for 400 of them
  late.launched_us = 1700, late.began_us = 502105, late.ended_us = 502120, late.done_us = 2130;
  late.memory_us = 7.06;
  late.arithmetic_cycles = 8000.4;
  const auto readings = readings_of({{0, quick}, {1, late}});
  ASSERT_EQ(readings.size(), 2u);
  // The GPU's clock is 499996 us ahead as the first has it and 499990 as the second.
  EXPECT_DOUBLE_EQ(readings[0].wait_us, 9);
  EXPECT_DOUBLE_EQ(readings[1].wait_us, 409);
  EXPECT_EQ(readings[1].round, 1);
  EXPECT_DOUBLE_EQ(readings[1].memory_us, 7.1);
  EXPECT_DOUBLE_EQ(readings[1].arithmetic_cycles, 8000);
  EXPECT_TRUE(readings_of({}).empty());
}

}  // namespace
}  // namespace amasia
