#include "harness/published/comparisons.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/published/inventory.hpp"
#include "harness/published/selectors.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

TEST(Published, RatioSaysWhatNeedsAnExplanation) {
  EXPECT_DOUBLE_EQ(against_published(32, 40).ratio, 0.8);
  EXPECT_FALSE(against_published(32, 40).notable);
  EXPECT_TRUE(against_published(61, 40).notable);
  EXPECT_TRUE(against_published(26, 40).notable);
  EXPECT_THROW(against_published(1, 0), std::invalid_argument);
}

TEST(Comparisons, EveryLookUpFindsItsNumber) {
  std::set<std::string> ids;
  for (const InventoryRow& row : inventory()) ids.insert(row.id);
  for (const PublishedComparison& c : published_comparisons()) {
    EXPECT_TRUE(ids.contains(c.id)) << c.id;
    EXPECT_GT(published_value(c), 0) << c.id << ' ' << c.label;
    EXPECT_NO_THROW(parse_selectors(c.own)) << c.own;
  }
  EXPECT_GT(published_comparisons().size(), 50u);
}

TEST(Comparisons, AWrongLookUpSaysWhatIsWrong) {
  PublishedComparison c = published_comparisons().front();
  c.where = "scope=L9";
  EXPECT_THROW(published_value(c), ResultError);
  c.where = "";
  EXPECT_THROW(published_value(c), ResultError);  // several rows
  c = published_comparisons().front();
  c.column = "scope";
  EXPECT_THROW(published_value(c), ResultError);  // no number
  EXPECT_THROW(parse_selectors("pint a b c=1"), ResultError);
  EXPECT_THROW(parse_selectors("point a b"), ResultError);
  EXPECT_THROW(parse_selectors("point a b c"), ResultError);
}

}  // namespace
}  // namespace amasia
