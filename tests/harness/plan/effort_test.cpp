#include "harness/plan/effort.hpp"

#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

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

TEST(Effort, ContradictingRoundsAreRefused) {
  EffortAsked asked;
  asked.min_rounds = 50;
  asked.max_rounds = 20;
  EXPECT_TRUE(contains(message_of<UsageError>([&] { effort_of(asked, Effort{}); }),
                       "--min-rounds 50 is more than --max-rounds 20"));
  asked.max_rounds.reset();
  Effort own;
  own.max_rounds = 15;
  EXPECT_TRUE(contains(message_of<UsageError>([&] { effort_of(asked, own); }), "default"));
  asked.min_rounds = 15;
  EXPECT_NO_THROW(effort_of(asked, own));
}

}  // namespace
}  // namespace amasia
