#include "harness/cli/result_files.hpp"

#include <gtest/gtest.h>

#include "tests/files.hpp"
#include "tests/messages.hpp"
#include "tests/sample_results.hpp"

namespace amasia {
namespace {

TEST(ReadResultFiles, NamesTheFirstBadOne) {
  TemporaryFolder folder;
  write_text(folder / "x.json", "{");
  write_text(folder / "y.json", "{");
  EXPECT_TRUE(contains(message_of<ResultError>([&] {
                         read_result_files({folder / "x.json", folder / "y.json"});
                       }),
                       "x.json:1:2: "));
}

}  // namespace
}  // namespace amasia
