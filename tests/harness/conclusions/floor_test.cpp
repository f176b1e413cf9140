#include "harness/conclusions/floor.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

Ceiling ceiling(const char* name, double value) { return {name, "", "", {}, value}; }

std::vector<Ceiling> all() {
  return {ceiling("read_bandwidth", 4000), ceiling("write_bandwidth", 5000),
          ceiling("copy_bandwidth", 2000), ceiling("fp32_rate", 60000),
          ceiling("int32_rate", 30000),    ceiling("dependent_op_ns", 2)};
}

std::vector<Ceiling> only(std::initializer_list<const char*> names) {
  std::vector<Ceiling> kept;
  for (const Ceiling& c : all()) {
    for (const char* name : names) {
      if (c.name == name) kept.push_back(c);
    }
  }
  return kept;
}

Work traffic(double read, double written) {
  Work work;
  work.bytes_read = read;
  work.bytes_written = written;
  return work;
}

double bytes_ms(double read, double written) {
  return compute_floor(traffic(read, written), all())->bytes_ms;
}

// At 4000, 5000 and 2000 GB/s (read, write, copy), 4e9 bytes take 1, 0.8 and 2 ms.
TEST(Floor, TrafficIsTimedAsAMixtureOfTheNearestStreams) {
  EXPECT_DOUBLE_EQ(bytes_ms(4e9, 0), 1);
  EXPECT_DOUBLE_EQ(bytes_ms(2e9, 2e9), 2);
  EXPECT_DOUBLE_EQ(bytes_ms(0, 4e9), 0.8);
  EXPECT_DOUBLE_EQ(bytes_ms(3e9, 1e9), 0.5 * 1 + 0.5 * 2);    // a quarter written: half is copy
  EXPECT_DOUBLE_EQ(bytes_ms(1e9, 3e9), 0.5 * 0.8 + 0.5 * 2);  // three quarters written
  EXPECT_FALSE(compute_floor(Work{}, all()));                 // nothing is said of the work
}

TEST(Floor, OperationsUseTheRateOfTheirKindAndAChainItsLatencies) {
  std::vector<Ceiling> ceilings = all();
  const auto floor = [&](double operations, Work::Kind kind, double dependent) {
    Work work;
    work.operations = operations;
    work.kind = kind;
    work.dependent_operations = dependent;
    return compute_floor(work, ceilings);
  };
  EXPECT_DOUBLE_EQ(floor(6e10, Work::Kind::fp32, 0)->operations_ms, 1);
  EXPECT_DOUBLE_EQ(floor(6e10, Work::Kind::int32, 0)->operations_ms, 2);
  EXPECT_DOUBLE_EQ(floor(0, Work::Kind::fp32, 1e6)->dependency_ms, 2);
  EXPECT_FALSE(floor(8e11, Work::Kind::bf16, 0)) << "without the ceiling of its tensor cores";
  ceilings.push_back(ceiling("bf16_rate", 800000));
  EXPECT_DOUBLE_EQ(floor(8e11, Work::Kind::bf16, 0)->operations_ms, 1);
}

TEST(Floor, TheLargestBinds) {
  EXPECT_EQ((Floor{3, 2, 1}).floor_ms(), 3);
  EXPECT_EQ((Floor{3, 2, 1}).bound_by(), Bound::bytes);
  EXPECT_EQ((Floor{1, 3, 2}).floor_ms(), 3);
  EXPECT_EQ((Floor{1, 3, 2}).bound_by(), Bound::operations);
  EXPECT_EQ((Floor{1, 2, 3}).floor_ms(), 3);
  EXPECT_EQ((Floor{1, 2, 3}).bound_by(), Bound::dependency);
}

TEST(Floor, OnlyTheCeilingsNeededMustBeThere) {
  EXPECT_TRUE(compute_floor(traffic(1e9, 0), only({"read_bandwidth"})));
  EXPECT_FALSE(compute_floor(traffic(1e9, 0), only({"copy_bandwidth", "write_bandwidth"})));
  EXPECT_TRUE(compute_floor(traffic(1e9, 1e9), only({"copy_bandwidth"})));
  EXPECT_FALSE(compute_floor(traffic(1e9, 1e9), only({"read_bandwidth", "write_bandwidth"})));
  EXPECT_TRUE(compute_floor(traffic(0, 1e9), only({"write_bandwidth"})));
  EXPECT_FALSE(compute_floor(traffic(1e9, 5e8), only({"read_bandwidth"})));

  Work work = traffic(1e9, 0);
  work.operations = 1;
  EXPECT_FALSE(compute_floor(work, only({"read_bandwidth", "int32_rate"})));
  EXPECT_TRUE(compute_floor(work, only({"read_bandwidth", "fp32_rate"})));
  work.dependent_operations = 1;
  EXPECT_FALSE(compute_floor(work, only({"read_bandwidth", "fp32_rate"})));
  EXPECT_TRUE(compute_floor(work, only({"read_bandwidth", "fp32_rate", "dependent_op_ns"})));
}

TEST(Floor, ACeilingOfZeroIsNoCeiling) {
  EXPECT_FALSE(compute_floor(traffic(1e9, 0), {ceiling("read_bandwidth", 0)}));
}

}  // namespace
}  // namespace amasia
