#include "harness/published/selectors.hpp"

#include <gtest/gtest.h>

#include "tests/harness/published/latency_results.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

TEST(OwnValue, IsTakenFromPointsFindingsCeilingsAndSpeedUps) {
  const ResultFile file = with_latency(41);
  std::string reason;
  const std::string l1 = "point memory/latency latency method=luo;level=l1";
  EXPECT_DOUBLE_EQ(own_value(file, l1, reason)->value, 41);
  EXPECT_EQ(own_value(file, l1, reason)->unit, "cycles");
  EXPECT_DOUBLE_EQ(
      own_value(file, "finding memory/latency capacity level=l1 / " + l1, reason)->value,
      192.0 / 41);
  EXPECT_DOUBLE_EQ(own_value(file, "point memory/latency latency:gbs level=l1", reason)->value, 82);
  EXPECT_TRUE(own_value(file, "ceiling copy_bandwidth", reason));
  EXPECT_TRUE(own_value(file, "speedup hotspot/tma best", reason));
  EXPECT_FALSE(own_value(file, "point memory/latency latency level=l2", reason));
  EXPECT_TRUE(contains(reason, "skipped: there is no L2"));
  EXPECT_FALSE(own_value(file, "point memory/other latency level=l2", reason));
  EXPECT_EQ(reason, "not measured");
}

}  // namespace
}  // namespace amasia
