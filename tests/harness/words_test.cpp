#include "harness/words.hpp"

#include <gtest/gtest.h>

#include <set>

#include "harness/app.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

template <class Enum>
class EveryTable : public testing::Test {};
using Enums = testing::Types<CacheMode, LaunchMode, Preset, Scope, Role, RowStatus, SpeedVerdict,
                             SpeedClaim, StopReason, Bound, Work::Kind>;
TYPED_TEST_SUITE(EveryTable, Enums);

TYPED_TEST(EveryTable, HasOneWordForEachValueAndReadsItBack) {
  std::set<std::string_view> words;
  for (const TypeParam value : all_values<TypeParam>()) {
    EXPECT_FALSE(word_of(value).empty());
    EXPECT_TRUE(words.insert(word_of(value)).second) << word_of(value) << " stands twice";
    EXPECT_EQ(from_word<TypeParam>(word_of(value)), value);
  }
  EXPECT_FALSE(find_word<TypeParam>("").has_value());
  EXPECT_FALSE(find_word<TypeParam>("no such word").has_value());
}

// A value added to an enum without its word would leave the table short: the last ones are named.
static_assert(word_of(CacheMode::hot) == "hot" && word_of(LaunchMode::graph) == "graph");
static_assert(word_of(Preset::sweep) == "sweep" && word_of(Scope::full) == "full");
static_assert(word_of(Role::candidate) == "candidate" && word_of(RowStatus::crashed) == "crashed");
static_assert(word_of(SpeedVerdict::not_resolved) == "not resolved");
static_assert(word_of(SpeedClaim::within_noise) == "within A/A noise");
static_assert(word_of(StopReason::time_limit) == "time limit");
static_assert(word_of(Bound::dependency) == "dependency" && word_of(Work::Kind::e4m3) == "e4m3");

TEST(Words, WhatIsNoneNamesThoseThereAre) {
  EXPECT_EQ(message_of<UsageError>([] { from_word<CacheMode>("warm"); }),
            "no cache mode 'warm': expected cold or hot");
  EXPECT_EQ(message_of<ResultError>([] { from_word<RowStatus, ResultError>("fine"); }),
            "no status 'fine': expected ok, failed, skipped or crashed");
}

}  // namespace
}  // namespace amasia
