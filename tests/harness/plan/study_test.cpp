#include "harness/plan/study.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "harness/published/inventory.hpp"
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

}  // namespace
}  // namespace amasia
