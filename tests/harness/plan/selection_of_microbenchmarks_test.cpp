// A program like that of AMASIA_APPS=none: microbenchmarks, and no app.
#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "harness/plan/campaign.hpp"
#include "harness/plan/selection.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

const bool registered = register_microbenchmark(question_to_plan("memory/steps"));

TEST(SelectionOfMicrobenchmarks, TheyAreDeviceCode) { EXPECT_TRUE(has_device_code()); }

TEST(SelectionOfMicrobenchmarks, APatternThatNamesThemPlansThem) {
  CampaignRequest request;
  request.patterns = {"memory/*"};
  const Campaign plan = plan_campaign(request, cases_of(request), TuningTable{}, "");
  ASSERT_EQ(plan.microbenchmarks.size(), 1u);
  EXPECT_EQ(plan.microbenchmarks[0].name, "memory/steps");
  EXPECT_TRUE(plan.groups.empty());
}

TEST(SelectionOfMicrobenchmarks, WhatThisProgramDoesNotHaveIsRefused) {
  EXPECT_TRUE(contains(message_of<UsageError>([] { select({"memory/stps"}); }), "memory/steps"));
}

}  // namespace
}  // namespace amasia
