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
  EffortAsked asked;
  asked.seconds = 9.5;
  asked.precision = 0.01;
  asked.confidence = 0.9;
  const Effort e = effort_of(asked, own);
  EXPECT_EQ(e.max_rounds, 41);
  EXPECT_EQ(e.seconds, 9.5);
  EXPECT_EQ(e.precision, 0.01);
  EXPECT_EQ(e.confidence, 0.9);
  EXPECT_EQ(e.min_rounds, own.min_rounds);
}

TEST(Effort, ACapThatIsAskedForIsNotExceeded) {
  Effort own;
  own.patience = 8;
  EXPECT_EQ(effort_of({}, own).patience, 8);
  EffortAsked asked;
  asked.seconds = 9.5;
  EXPECT_EQ(effort_of(asked, own).patience, 1);
}

TEST(Effort, EnergyIsMeasuredWhenEitherWantsIt) {
  Effort with;
  with.energy = true;
  EXPECT_TRUE(effort_of({}, with).energy);
  EffortAsked asked;
  EXPECT_FALSE(effort_of(asked, Effort{}).energy);
  asked.energy = true;
  EXPECT_TRUE(effort_of(asked, Effort{}).energy);
}

TEST(Effort, ACapBelowTheLeastNumberOfRoundsLowersThat) {
  EffortAsked asked;
  asked.max_rounds = 5;
  EXPECT_EQ(effort_of(asked, Effort{}).min_rounds, 5);
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
