#include "harness/published/comparisons.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/published/inventory.hpp"
#include "harness/published/selectors.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

/// An H800's L1 latency in Luo et al., Table IV: 40.7 cycles.
PublishedComparison latency_of_l1() {
  PublishedComparison c;
  c.id = "000-04";
  c.label = "L1 latency";
  c.gpu = "H800";
  c.file = "s000_table4_memory_latency";
  c.where = "scope=L1 cache";
  c.column = "H800_cycles";
  c.relation = "equal";
  c.tolerance = 10;
  c.basis = "value";
  return c;
}

TEST(Published, VerdictFollowsFromTheFigures) {
  PublishedComparison c = latency_of_l1();
  EXPECT_EQ(verdict_of(c, 40.7 * 1.09, 90), "agrees within 10 %");
  EXPECT_EQ(verdict_of(c, 40.7 * 1.11, 90), "differs");
  EXPECT_EQ(verdict_of(c, 40.7 / 1.11, 90), "differs");
  c.relation = "at most";
  EXPECT_EQ(verdict_of(c, 1, 90), "agrees within 10 %");
  EXPECT_EQ(verdict_of(c, 100, 90), "differs");
  c.relation = "at least";
  EXPECT_EQ(verdict_of(c, 1, 90), "differs");
  EXPECT_EQ(verdict_of(c, 100, 90), "agrees within 10 %");
  c.relation = "equal";
  c.tolerance = 0;
  EXPECT_EQ(verdict_of(c, 40.7, 90), "agrees");
  EXPECT_EQ(verdict_of(c, 40.8, 90), "differs");
}

TEST(Published, NothingFollowsOnOtherHardwareUnlessItIsARatio) {
  PublishedComparison c = latency_of_l1();
  EXPECT_EQ(verdict_of(c, 40.7, 80), "other hardware");
  c.basis = "ratio";
  EXPECT_EQ(verdict_of(c, 40.7, 80), "agrees within 10 %");
  c.basis = "beside";
  EXPECT_EQ(verdict_of(c, 40.7, 90), "shown beside, nothing follows");
  c.basis = "share sms";
  EXPECT_TRUE(verdict_of(c, 40.7, 90).starts_with("compared as a share of what each GPU "));
  EXPECT_EQ(verdict_of(c, 40.7, 80), "other hardware");
}

TEST(Published, ValuesAreCellsQuotientsAndRanges) {
  PublishedComparison c = latency_of_l1();
  EXPECT_DOUBLE_EQ(published_range(c).low, 40.7);
  EXPECT_DOUBLE_EQ(published_range(c).high, 40.7);
  c.where = "scope=L2 cache / scope=L1 cache";
  c.column = "H800_cycles / H800_cycles";
  EXPECT_DOUBLE_EQ(published_range(c).low, 263.0 / 40.7);
  c.where = "scope=L1 cache";
  c.column = "A100_cycles..RTX4090_cycles";
  EXPECT_DOUBLE_EQ(published_range(c).low, 37.9);
  EXPECT_DOUBLE_EQ(published_range(c).high, 43.4);
  c.relation = "within";
  EXPECT_EQ(verdict_of(c, 40, 90), "agrees within 10 %");
  EXPECT_EQ(verdict_of(c, 50, 90), "differs");
}

TEST(Comparisons, EveryLookUpFindsItsNumber) {
  std::set<std::string> ids;
  for (const InventoryRow& row : inventory()) ids.insert(row.id);
  for (const PublishedComparison& c : published_comparisons()) {
    EXPECT_TRUE(ids.contains(c.id)) << c.id;
    EXPECT_GT(published_range(c).low, 0) << c.id << ' ' << c.label;
    EXPECT_GE(published_range(c).high, published_range(c).low) << c.id << ' ' << c.label;
    EXPECT_NO_THROW(verdict_of(c, 1, 90)) << c.id << ' ' << c.label;
    EXPECT_NO_THROW(parse_selectors(c.own)) << c.own;
  }
  EXPECT_GT(published_comparisons().size(), 50u);
}

TEST(Comparisons, ASpeedUpIsOfASizeACacheAndALaunchMode) {
  for (const PublishedComparison& c : published_comparisons()) {
    for (const Selector& s : parse_selectors(c.own)) {
      if (s.kind != Selector::Kind::speedup) continue;
      EXPECT_FALSE(value_of(s.at, "cache").empty()) << c.id;
      EXPECT_FALSE(value_of(s.at, "launch").empty()) << c.id;
      EXPECT_GE(s.at.size(), 3u) << c.id << ": of which size?";
    }
  }
}

TEST(Comparisons, AWrongLookUpSaysWhatIsWrong) {
  PublishedComparison c = published_comparisons().front();
  c.where = "scope=L9";
  EXPECT_THROW(published_range(c), ResultError);
  c.where = "";
  EXPECT_THROW(published_range(c), ResultError);  // several rows
  c = published_comparisons().front();
  c.column = "scope";
  EXPECT_THROW(published_range(c), ResultError);  // no number
  EXPECT_THROW(parse_selectors("pint a b c=1"), ResultError);
  EXPECT_THROW(parse_selectors("point a b"), ResultError);
  EXPECT_THROW(parse_selectors("point a b c"), ResultError);
}

}  // namespace
}  // namespace amasia
