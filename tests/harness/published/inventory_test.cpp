#include "harness/published/inventory.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "harness/microbenchmark.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

TEST(Inventory, HasEveryIdOnceAndEachIsMappedOrSaysWhyNot) {
  EXPECT_EQ(inventory().size(), 103u);
  std::set<std::string> ids;
  for (const InventoryRow& row : inventory()) {
    EXPECT_TRUE(std::regex_match(row.id, std::regex("00[0-3]-[0-9]{2}"))) << row.id;
    EXPECT_TRUE(ids.insert(row.id).second) << row.id << " is there twice";
    EXPECT_TRUE(row.study.starts_with("seed" + row.id.substr(0, 3) + "-")) << row.id;
    EXPECT_FALSE(row.what.empty()) << row.id;
    if (row.by.empty()) {
      EXPECT_TRUE(row.method == "nothing" || row.method.starts_with("table: ") ||
                  row.method.starts_with("gpus: "))
          << row.id;
      EXPECT_FALSE(row.remark.empty()) << row.id << " does not say why";
    } else {
      EXPECT_TRUE(row.method == "same" || row.method.starts_with("other: ")) << row.id;
    }
  }
  // Per document as many as its own list has, claims of the text that stand in no table among them.
  for (const auto& [document, count] : {std::pair("seed000", 45u), std::pair("seed001", 22u),
                                        std::pair("seed002", 15u), std::pair("seed003", 21u)}) {
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
