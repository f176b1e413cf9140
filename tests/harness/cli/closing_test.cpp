#include "harness/cli/closing.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

TEST(Closing, NamesTheNextCommandOnStderr) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  say_next("amasia list", "shows what there is");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "next: amasia list shows what there is\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << "that may be data";
}

TEST(Closing, PatternsCanBePasted) {
  EXPECT_EQ(with_patterns("amasia run", {}), "amasia run");
  EXPECT_EQ(with_patterns("amasia run", {"nw", "*/tma"}), "amasia run nw '*/tma'");
  EXPECT_EQ(with_patterns("amasia run", {"$x", "it's"}), "amasia run '$x' 'it'\\''s'");
}

}  // namespace
}  // namespace amasia
