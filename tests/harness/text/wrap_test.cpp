#include "harness/text/wrap.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace amasia {
namespace {

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("- ", "one two three", 2, 9), "- one two\n  three\n");
  EXPECT_EQ(wrapped("", "one two", 0, 7), "one two\n") << "the last column is used";
  EXPECT_EQ(wrapped("", "one two", 0, 6), "one\ntwo\n");
  EXPECT_EQ(wrapped("name  ", "", 2, 20), "name\n");
}

TEST(Wrapped, TakesAFirstPartThatReachesIntoTheText) {
  EXPECT_EQ(wrapped("  a-long-name  ", "text", 6, 20), "  a-long-name  text\n");
  EXPECT_EQ(wrapped("  a-name-without-blank", "text", 6, 40),
            "  a-name-without-blank\n      text\n");
}

TEST(Wrapped, NoLineIsLongerThanAsked) {
  const std::string word(57, 'x');
  for (std::size_t columns = 8; columns < 70; ++columns) {
    std::istringstream lines(
        wrapped("  key   ", "a " + word + " b \u00e4\u00f6\u00fc " + word, 4, columns));
    std::string line, letters;
    while (std::getline(lines, line)) {
      EXPECT_LE(columns_of(line), columns) << line;
      for (const char c : line) letters += c == 'x' ? "x" : "";
    }
    EXPECT_EQ(letters.size(), 2 * word.size()) << "nothing is lost at " << columns;
  }
}

TEST(Wrapped, CountsCharactersNotBytes) {
  EXPECT_EQ(columns_of("\u00e4\u00f6\u00fc"), 3u);
  EXPECT_EQ(wrapped("", "\u00e4\u00e4\u00e4 \u00f6\u00f6", 0, 6),
            "\u00e4\u00e4\u00e4 \u00f6\u00f6\n");
}

}  // namespace
}  // namespace amasia
