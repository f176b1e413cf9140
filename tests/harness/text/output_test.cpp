#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "harness/errors.hpp"
#include "harness/text/output.hpp"
#include "harness/text/pattern.hpp"
#include "harness/text/table.hpp"
#include "tests/files.hpp"

namespace amasia {
namespace {

using Names = std::vector<std::string>;

TEST(Suggestion, NamesTheNearOrAllThatIsValid) {
  EXPECT_EQ(suggestion("overlpa", {"overlap", "tma"}), "did you mean overlap?");
  EXPECT_EQ(suggestion("tmc", {"tma", "tmb"}), "did you mean tma or tmb?");
  EXPECT_EQ(suggestion("zzzz", {"overlap", "tma"}), "valid: overlap, tma");
  EXPECT_EQ(suggestion("x", {}), "there are none");
  const std::string cut = suggestion("????????????", Names(20, "name"));
  EXPECT_EQ(cut.substr(cut.size() - 5), ", ...");
}

/// What bash makes of a command: its words, with a bar behind each.
std::string words_of(const std::string& command) {
  const TemporaryFolder folder;
  write_text(folder / "script", "printf '%s|' " + command + " > words\n");
  const std::string run = "cd '" + folder.path().string() + "' && bash script";
  return std::system(run.c_str()) == 0 ? read_text(folder / "words") : "";
}

TEST(InShell, IsTakenByAShellAsItWasMeant) {
  const std::vector<std::string> words{"$(echo no)", "a b",   "it's", "~/x",    "a\\b",
                                       "`x`;&|<>",   "#x",    "*",    "",       "two\nlines",
                                       "{1,2}",      "zwölf", "!x",   "\x01'\\"};
  std::string expected;
  for (const std::string& word : words) expected += word + '|';
  EXPECT_EQ(words_of(in_shell(words)), expected);
}

TEST(Wrapped, BreaksBetweenWordsAndIndentsWhatFollows) {
  EXPECT_EQ(wrapped("- ", "one two three", 2, 9), "- one two\n  three\n");
  EXPECT_EQ(wrapped("", "one two", 0, 7), "one two\n") << "the last column is used";
  EXPECT_EQ(wrapped("", "one two", 0, 6), "one\ntwo\n");
  EXPECT_EQ(wrapped("name  ", "", 2, 20), "name\n");
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

// What becomes of streams that are closed, full or gone: tests/cli/test_stub.py.

Table sample() {
  Table table;
  table.columns = {{"name", "name"},
                   {"time_ms", "time", "ms", true},
                   {"runs", "runs"},
                   {"share", "share"},
                   {"ok", "ok"}};
  table.add({std::string("a,\"b\"|\nc"), Estimate{1.0 / 3, 0.25, 0.5}, std::int64_t{7}, 0.1, true});
  table.add({std::string("d"), {}, {}, {}, false});
  return table;
}

TEST(Table, Markdown) {
  EXPECT_EQ(to_markdown(sample()),
            "| name | time [ms] | runs | share | ok |\n"
            "| --- | ---: | ---: | ---: | --- |\n"
            "| a,\"b\"\\| c | 0.3333 [0.2500, 0.5000] | 7 | 0.1000 | yes |\n"
            "| d | - | - | - | no |\n");
}

TEST(Table, CsvQuotesAndKeepsAllDigits) {
  EXPECT_EQ(to_csv(sample()),
            "name,time_ms,time_ms_low,time_ms_high,runs,share,ok\n"
            "\"a,\"\"b\"\"|\nc\",0.3333333333333333,0.25,0.5,7,0.1,true\n"
            "d,,,,,,false\n");
}

TEST(Csv, ReadsQuotesCommentsAndEmptyFields) {
  const CsvTable t = parse_csv("# a, b\na,b\n1,\"x, \"\"y\"\"\"\n,\n", "t");
  EXPECT_EQ(t.columns, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[0][1], "x, \"y\"");
  EXPECT_EQ(t.rows[1][0], "");
  EXPECT_THROW(parse_csv("a,b\n1\n", "t"), ResultError);
  EXPECT_THROW(parse_csv("a,b\n\"1,2\n", "t"), ResultError);
  EXPECT_THROW(t.column("c"), ResultError);
}

}  // namespace
}  // namespace amasia
