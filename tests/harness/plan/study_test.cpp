#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harness/errors.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/study.hpp"

namespace amasia {
namespace {

TEST(Studies, HaveNamesOfTheirOwnAndSaySomething) {
  std::set<std::string_view> names;
  for (const Study& study : studies()) {
    EXPECT_TRUE(names.insert(study.name).second) << study.name;
    EXPECT_FALSE(study.summary.empty()) << study.name;
    EXPECT_FALSE(study.caches.empty()) << study.name;
    EXPECT_FALSE(study.launches.empty()) << study.name;
    EXPECT_EQ(&find_study(std::string(study.name)), &study);
    // 15 rounds are what an interval of 95 %, corrected for a group's comparisons, needs.
    EXPECT_GE(study.effort.max_rounds, 15) << study.name;
    EXPECT_GE(study.effort.max_rounds, study.effort.min_rounds) << study.name;
  }
  for (const std::string& id : inventory_names()) EXPECT_FALSE(names.count(id)) << id;
}

TEST(Effort, WhatIsAskedForOutweighsWhatIsOwn) {
  Effort own;
  own.max_rounds = 41;
  own.seconds = 4;
  own.patience = 8;
  EXPECT_EQ(effort_of({}, own).patience, 8);
  EffortAsked asked;
  asked.seconds = 9.5;
  asked.precision = 0.01;
  asked.confidence = 0.9;
  asked.energy = true;
  const Effort e = effort_of(asked, own);
  EXPECT_EQ(e.max_rounds, 41);
  EXPECT_EQ(e.min_rounds, own.min_rounds);
  EXPECT_EQ(e.seconds, 9.5);
  EXPECT_EQ(e.patience, 1) << "a cap that is asked for is not exceeded";
  EXPECT_EQ(e.precision, 0.01);
  EXPECT_EQ(e.confidence, 0.9);
  EXPECT_TRUE(e.energy);
  asked.max_rounds = 5;
  EXPECT_EQ(effort_of(asked, own).min_rounds, 5) << "a cap below the least number lowers that";
}

}  // namespace
}  // namespace amasia
