// A program with an app that has its reference and no variant, as an app outside the tree may be
// at first, linked with the suite's microbenchmarks.
#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "harness/plan/selection.hpp"
#include "tests/harness/plan/planned_apps.hpp"

namespace amasia {
namespace {

const bool registered = register_app(std::make_unique<AppToPlan>("not-of-the-tree")) &&
                        register_microbenchmark(question_to_plan("memory/steps"));

TEST(SelectionBesideMicrobenchmarks, TheAppIsThereWithoutVariants) {
  for (const std::vector<std::string>& patterns :
       {std::vector<std::string>{}, std::vector<std::string>{"not-of-the-tree"}}) {
    const std::vector<SelectedApp> chosen = select_apps(patterns);
    ASSERT_EQ(chosen.size(), 1u);
    EXPECT_EQ(chosen[0].app->name(), "not-of-the-tree");
    EXPECT_TRUE(chosen[0].variants.empty());
  }
  EXPECT_EQ(select({}).apps.size(), 1u);
}

}  // namespace
}  // namespace amasia
