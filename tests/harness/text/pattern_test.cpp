#include "harness/text/pattern.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

using Names = std::vector<std::string>;

TEST(Glob, Matches) {
  EXPECT_TRUE(glob_match("hotspot/tma", "hotspot/tma"));
  EXPECT_TRUE(glob_match("hotspot/*", "hotspot/tma"));
  EXPECT_TRUE(glob_match("*/tma", "hotspot/tma"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("**a**", "a"));
  EXPECT_TRUE(glob_match("h?tspot", "hotspot"));
  EXPECT_TRUE(glob_match("*ab*ab", "abxabab"));  // the last 'ab' must be the one at the end
  EXPECT_TRUE(glob_match("", ""));
}

TEST(Glob, DoesNotMatch) {
  EXPECT_FALSE(glob_match("tma", "hotspot/tma"));
  EXPECT_FALSE(glob_match("hotspot", "hotspot/tma"));
  EXPECT_FALSE(glob_match("h?tspot", "htspot"));
  EXPECT_FALSE(glob_match("*a", "ab"));
  EXPECT_FALSE(glob_match("a*b*c", "acb"));
  EXPECT_FALSE(glob_match("", "x"));
  EXPECT_FALSE(glob_match("x", ""));
  EXPECT_FALSE(glob_match("h.tspot", "hotspot"));
}

TEST(Glob, HostilePatternEndsSoon) {
  // Exponential for a matcher that tries every star anew.
  std::string pattern, text(4000, 'a');
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", text));
  EXPECT_TRUE(glob_match(pattern, text));
}

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("tma", "tam"), 1u);  // a swap of neighbours
  EXPECT_EQ(edit_distance("dsm", "dms"), 1u);
  EXPECT_EQ(edit_distance("overlap", "overlapp"), 1u);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
}

TEST(NearestNames, NearestFirstThenInTheOrderGiven) {
  const Names valid{"tma", "dsm", "overlap", "tmb", "drop_off"};
  EXPECT_EQ(nearest_names("tmc", valid), (Names{"tma", "tmb"}));
  EXPECT_EQ(nearest_names("tmb", valid), (Names{"tmb", "tma"}));
  EXPECT_EQ(nearest_names("tmb", valid, 1), (Names{"tmb"}));
  EXPECT_TRUE(nearest_names("quicksort", valid).empty());
}

TEST(Suggestion, NamesTheNearOrAllThatIsValid) {
  EXPECT_EQ(suggestion("overlpa", {"overlap", "tma"}), "did you mean overlap?");
  EXPECT_EQ(suggestion("tmc", {"tma", "tmb"}), "did you mean tma or tmb?");
  EXPECT_EQ(suggestion("zzzz", {"overlap", "tma"}), "valid: overlap, tma");
  EXPECT_EQ(suggestion("x", {}), "there are none");
  const std::string cut = suggestion("????????????", Names(20, "name"));
  EXPECT_EQ(cut.substr(cut.size() - 5), ", ...");
}

}  // namespace
}  // namespace amasia
