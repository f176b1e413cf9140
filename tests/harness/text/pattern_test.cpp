#include "harness/text/pattern.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

using Names = std::vector<std::string>;

TEST(Glob, Matches) {
  struct Case {
    const char *pattern, *text;
    bool matches;
  };
  for (const auto& [pattern, text, matches] : std::initializer_list<Case>{
           {"hotspot/tma", "hotspot/tma", true},
           {"hotspot/*", "hotspot/tma", true},
           {"*/tma", "hotspot/tma", true},
           {"*", "", true},
           {"**a**", "a", true},
           {"h?tspot", "hotspot", true},
           {"*ab*ab", "abxabab", true},  // the last 'ab' must be the one at the end
           {"", "", true},
           {"tma", "hotspot/tma", false},
           {"hotspot", "hotspot/tma", false},
           {"h?tspot", "htspot", false},
           {"*a", "ab", false},
           {"a*b*c", "acb", false},
           {"", "x", false},
           {"x", "", false},
           {"h.tspot", "hotspot", false}}) {
    EXPECT_EQ(glob_match(pattern, text), matches) << pattern << " " << text;
  }
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
