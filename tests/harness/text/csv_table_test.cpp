#include "harness/text/csv_table.hpp"

#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

TEST(Csv, ReadsQuotesCommentsAndEmptyFields) {
  const CsvTable t = parse_csv("# a, b\na,b\n1,\"x, \"\"y\"\"\"\n,\n", "t");
  EXPECT_EQ(t.columns, (std::vector<std::string>{"a", "b"}));
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[0][1], "x, \"y\"");
  EXPECT_EQ(t.rows[1][0], "");
  EXPECT_THROW(parse_csv("a,b\n1\n", "t"), ResultError);
  EXPECT_THROW(parse_csv("a,b\n\"1,2\n", "t"), ResultError);
  EXPECT_THROW(t.column("c"), ResultError);
}

}  // namespace
}  // namespace amasia
