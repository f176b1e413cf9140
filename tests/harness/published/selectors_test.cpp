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
  EXPECT_TRUE(own_value(file, "best memory/latency latency method=luo", reason));
  EXPECT_FALSE(own_value(file, "point memory/latency latency level=l2", reason));
  EXPECT_TRUE(contains(reason, "skipped: there is no L2"));
  EXPECT_FALSE(own_value(file, "point memory/other latency level=l2", reason));
  EXPECT_EQ(reason, "not measured");
}

TEST(OwnValue, OfASpeedUpIsThatOfItsCellAlone) {
  ResultFile file = with_latency(41);
  file.groups.push_back(file.groups[0]);
  GroupResult& other = file.groups[1];  // another size first in the file must not be taken for it
  other.key.size = Parameters::from_values({{"rows", "1024"}, {"cols", "512"}});
  for (Comparison& c : other.comparisons) c.speedup.ratio *= 2;
  std::string reason;
  const auto in = [&](const std::string& role, const std::string& cell) {
    const auto own = own_value(file, "speedup hotspot/tma " + role + " " + cell, reason);
    return own ? own->value : 0;
  };
  const double small = in("best", "rows=512;cols=512;cache=cold;launch=stream");
  EXPECT_GT(small, 0);
  EXPECT_DOUBLE_EQ(in("best", "rows=1024;cols=512;cache=cold;launch=stream"), 2 * small);
  EXPECT_EQ(in("best", "rows=2048;cols=512;cache=cold;launch=stream"), 0);
  EXPECT_EQ(in("best", "rows=512;cols=512;cache=hot;launch=stream"), 0);
  EXPECT_EQ(in("best", "rows=512;cols=512;cache=cold;launch=graph"), 0);
  EXPECT_EQ(in("best", "rows=512;cols=512;cache=cold;launch=stream;schedule=wide"), 0);
  EXPECT_EQ(in("matched", "rows=512;cols=512;cache=cold;launch=stream"), 0);
  for (Comparison& c : file.groups[0].comparisons) c.schedule = "wide";
  EXPECT_DOUBLE_EQ(in("best", "rows=512;cols=512;cache=cold;launch=stream;schedule=wide"), small);
}

TEST(OwnValue, OfTheBestIsTheLargestOfThePointsThatFulfil) {
  ResultFile file = with_latency(41);
  MicrobenchmarkRow larger = file.microbenchmarks[0].rows[0];
  larger.at.emplace_back("stride", "64");
  larger.value = median_interval({82, 82, 82}, 0.95);
  file.microbenchmarks[0].rows.push_back(larger);
  std::string reason;
  EXPECT_DOUBLE_EQ(own_value(file, "best memory/latency latency level=l1", reason)->value, 82);
  EXPECT_DOUBLE_EQ(own_value(file, "point memory/latency latency level=l1", reason)->value, 41);
  EXPECT_FALSE(own_value(file, "best memory/latency latency level=l2", reason));
  EXPECT_TRUE(contains(reason, "skipped: there is no L2"));
}

TEST(OwnValue, AQuantityOfSeveralWordsEndsWithABar) {
  const Selector s = parse_selectors("finding a/b share that is left|c=d e;f=g")[0];
  EXPECT_EQ(s.quantity, "share that is left");
  EXPECT_EQ(s.at, (Coordinates{{"c", "d e"}, {"f", "g"}}));
  std::string reason;
  EXPECT_FALSE(own_value(with_latency(41), "derived mma_mean_share", reason));
  EXPECT_TRUE(contains(reason, "python -m plots reproduction"));
}

}  // namespace
}  // namespace amasia
