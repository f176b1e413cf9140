#include "harness/text/shell.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/files.hpp"

namespace amasia {
namespace {

/// What bash makes of a command: its words, with a bar behind each.
std::string words_of(const std::string& command) {
  const TemporaryFolder folder;
  write_text(folder / "script", "printf '%s|' " + command + " > words\n");
  const std::string run = "cd '" + folder.path().string() + "' && bash script";
  return std::system(run.c_str()) == 0 ? read_text(folder / "words") : "";
}

TEST(InShell, LeavesPlainWords) {
  EXPECT_EQ(in_shell({"amasia", "run", "hotspot/tma", "--size", "n=1,m=2", "my run.json"}),
            "amasia run hotspot/tma --size n=1,m=2 'my run.json'");
}

TEST(InShell, IsTakenByAShellAsItWasMeant) {
  const std::vector<std::string> words{"$(echo no)", "a b",   "it's", "~/x",    "a\\b",
                                       "`x`;&|<>",   "#x",    "*",    "",       "two\nlines",
                                       "{1,2}",      "zwölf", "!x",   "\x01'\\"};
  std::string expected;
  for (const std::string& word : words) expected += word + '|';
  EXPECT_EQ(words_of(in_shell(words)), expected);
}

}  // namespace
}  // namespace amasia
