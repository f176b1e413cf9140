#include "harness/session/group_loop.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "tests/harness/stub_device/stub_device.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

/// What the points of "probe/readings" do: set by each test before it measures.
std::vector<std::function<Reading(int call)>> readings;

std::vector<Point> points(const Device&, Scope) {
  std::vector<Point> list;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    Point p;
    p.at = {{"index", std::to_string(i)}};
    p.quantity = "latency";
    p.unit = "cycles";
    p.kernels = {{nullptr, 32}};
    p.claims = {{"LDG", "ld.global", 1}};
    p.prepare = [i](const Device&, Stream) -> Sampling {
      return [i, call = 0]() mutable { return readings[i](call++); };
    };
    list.push_back(std::move(p));
  }
  if (list.size() > 1) list.back().runs_from = 100;
  return list;
}

const bool registered =
    register_microbenchmark({"probe/readings", "What is read?", "As told.", points, {}});

MicrobenchmarkResult measured(PlannedMicrobenchmark plan = {}) {
  plan.name = "probe/readings";
  const auto instrument = make_stub_instrument({});
  return run_microbenchmark(plan, *instrument, [](int, const std::string&) {});
}

TEST(MicrobenchmarkLoop, TheFirstReadingIsNotRecorded) {
  ASSERT_TRUE(registered);
  readings = {[](int call) { return Reading{call == 0 ? 9999.0 : 33.0}; }};
  const MicrobenchmarkResult r = measured();
  ASSERT_EQ(r.rows.size(), 1u);
  EXPECT_EQ(r.rows[0].samples.size(), 7u);
  for (const Reading& reading : r.rows[0].samples) EXPECT_EQ(reading.value, 33);
  EXPECT_EQ(r.rows[0].stop_reason, StopReason::narrow_enough);
}

TEST(MicrobenchmarkLoop, StopsAtALimit) {
  readings = {[](int call) { return Reading{call % 2 == 0 ? 30.0 : 40.0}; }};
  PlannedMicrobenchmark plan;
  plan.effort.max_samples = 12;
  MicrobenchmarkRow row = measured(plan).rows[0];
  EXPECT_EQ(row.stop_reason, StopReason::sample_limit);
  EXPECT_EQ(row.samples.size(), 12u);
  // The least number is taken even when the time is over.
  plan.effort.seconds = 0;
  row = measured(plan).rows[0];
  EXPECT_EQ(row.stop_reason, StopReason::time_limit);
  EXPECT_EQ(row.samples.size(), 7u);
}

TEST(MicrobenchmarkLoop, TroubleOfAPointIsItsOwn) {
  const auto good = [](int) { return Reading{33}; };
  readings = {[](int call) -> Reading { return {call < 3 ? 33.0 : std::nan("")}; },
              [](int) -> Reading { return {0}; },
              [](int) -> Reading { throw Unavailable("this driver cannot"); },
              [](int) -> Reading { throw std::runtime_error("it broke"); },
              good,
              good,
              good};
  PlannedMicrobenchmark plan;
  plan.excluded = {"", "", "", "", "it crashed"};
  const MicrobenchmarkResult r = measured(plan);
  EXPECT_EQ(r.rows[0].status, RowStatus::failed);
  EXPECT_TRUE(contains(r.rows[0].reason, "read nan cycles, which no latency can be"));
  EXPECT_TRUE(r.rows[0].samples.empty());
  EXPECT_EQ(r.rows[1].status, RowStatus::failed);
  EXPECT_EQ(r.rows[2].status, RowStatus::skipped);
  EXPECT_EQ(r.rows[2].reason, "this driver cannot");
  EXPECT_EQ(r.rows[3].status, RowStatus::failed);
  EXPECT_EQ(r.rows[3].reason, "it broke");
  EXPECT_EQ(r.rows[4].status, RowStatus::crashed);
  EXPECT_EQ(r.rows[4].reason, "it crashed");
  EXPECT_EQ(r.rows[5].status, RowStatus::ok);
  EXPECT_EQ(r.rows[6].status, RowStatus::skipped);
  EXPECT_EQ(r.rows[6].reason, "needs compute capability 10.0, this is 9.0");
}

TEST(MicrobenchmarkLoop, WhatTheDeviceSaysOfAnErrorCounts) {
  const auto fails = [](const char* how) {
    return [how](int) -> Reading {
      break_down({{"do", how}});
      return {33};
    };
  };
  readings = {fails("no_memory")};
  EXPECT_EQ(measured().rows[0].status, RowStatus::skipped);
  readings = {fails("break")};  // nothing more can run in this process
  EXPECT_THROW(measured(), std::runtime_error);
}

}  // namespace
}  // namespace amasia
