#include "harness/text/folder.hpp"

#include <gtest/gtest.h>

#include "tests/files.hpp"

namespace amasia {
namespace {

// Of each kind: tests/cli/test_outputs.py.

TEST(JsonFilesIn, SaysOfManyHowManyMore) {
  const TemporaryFolder folder;
  for (char c = 'a'; c <= 'z'; ++c) write_text(folder / (std::string(1, c) + ".json"), "");
  const FolderContents contents = json_files_in(folder.path());
  ASSERT_EQ(contents.notes.size(), 9u);
  EXPECT_EQ(contents.notes.back(), "18 more files are no results and were left out");
  EXPECT_TRUE(json_files_in(folder / "none").files.empty());
}

}  // namespace
}  // namespace amasia
