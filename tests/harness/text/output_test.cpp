#include "harness/text/output.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

// What becomes of streams that are closed, full or gone: tests/cli/test_stub.py.

TEST(InOneLine, ReplacesWhatATerminalObeys) {
  EXPECT_EQ(in_one_line("no 'a\nb\x1b[2J\x7f': é"), "no 'a?b?[2J?': é");
  EXPECT_EQ(in_one_line(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(in_one_line(""), "");
  EXPECT_EQ(in_one_line(std::string(2001, 'a')), std::string(2000, 'a') + "...");
}

}  // namespace
}  // namespace amasia
