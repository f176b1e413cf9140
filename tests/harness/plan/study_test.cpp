#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "harness/errors.hpp"
#include "harness/microbenchmark.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/study.hpp"
#include "tests/messages.hpp"

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

TEST(FindStudy, NamesTheNearestOfAllWhenOneIsMistyped) {
  const auto message = [](const std::string& name) {
    return message_of<UsageError>([&] { find_study(name); });
  };
  EXPECT_TRUE(contains(message("papre"), "no study 'papre': did you mean paper"));
  EXPECT_TRUE(contains(message("seed000-tabel4"), "seed000-table4"));
  EXPECT_TRUE(is_one_line(message("something else altogether")));
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

TEST(Inventory, HasEveryIdOnceAndEachIsMappedOrSaysWhyNot) {
  EXPECT_EQ(inventory().size(), 107u);
  std::set<std::string> ids;
  for (const InventoryRow& row : inventory()) {
    EXPECT_TRUE(std::regex_match(row.id, std::regex("00[0-3]-[0-9]{2}"))) << row.id;
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " is there twice";
    EXPECT_TRUE(row.study.starts_with("seed" + row.id.substr(0, 3) + "-")) << row.id;
    EXPECT_FALSE(row.what.empty()) << row.id;
    if (row.by.empty()) {
      // What needs no measurement, or is measured with other ids.
      EXPECT_TRUE(row.method == "same" || row.method.starts_with("none: ") ||
                  row.method.starts_with("self: ") || row.method.starts_with("other: "))
          << row.id;
      EXPECT_FALSE(row.remark.empty()) << row.id << " does not say why";
    } else {
      EXPECT_TRUE(row.method == "same" || row.method.starts_with("other: ")) << row.id;
    }
  }
  // Per document as many as its own list has, claims of the text that stand in no table among them.
  for (const auto& [document, count] : {std::pair("seed000", 46u), std::pair("seed001", 22u),
                                        std::pair("seed002", 15u), std::pair("seed003", 24u)}) {
    EXPECT_EQ(inventory_rows(document).size(), count) << document;
  }
}

TEST(Inventory, NamesMeanDocumentsStudiesAndIds) {
  EXPECT_EQ(inventory_rows("000-04").size(), 1u);
  EXPECT_EQ(inventory_rows("seed000-table4").size(), 4u);
  EXPECT_TRUE(inventory_rows("seed000-table99").empty());
  const auto names = inventory_names();
  EXPECT_EQ(names.front(), "seed000");
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

}  // namespace
}  // namespace amasia
