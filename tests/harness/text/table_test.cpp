#include "harness/text/table.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace amasia {
namespace {

Table sample() {
  Table table;
  table.columns = {{"name", "name"},
                   {"time_ms", "time", "ms", true},
                   {"runs", "runs"},
                   {"share", "share"},
                   {"ok", "ok"}};
  table.add({std::string("a,\"b\"|\nc"), Estimate{1.0 / 3, 0.25, 0.5}, std::int64_t{7}, 0.1, true});
  table.add({std::string("d"), {}, {}, {}, false});
  return table;
}

TEST(Table, Markdown) {
  EXPECT_EQ(to_markdown(sample()),
            "| name | time [ms] | runs | share | ok |\n"
            "| --- | ---: | ---: | ---: | --- |\n"
            "| a,\"b\"\\| c | 0.3333 [0.2500, 0.5000] | 7 | 0.1000 | yes |\n"
            "| d | - | - | - | no |\n");
}

TEST(Table, CsvQuotesAndKeepsAllDigits) {
  EXPECT_EQ(to_csv(sample()),
            "name,time_ms,time_ms_low,time_ms_high,runs,share,ok\n"
            "\"a,\"\"b\"\"|\nc\",0.3333333333333333,0.25,0.5,7,0.1,true\n"
            "d,,,,,,false\n");
}

TEST(Table, RefusesRowsThatDoNotFit) {
  Table table = sample();
  EXPECT_THROW(table.add({std::string("d")}), std::logic_error);
  EXPECT_THROW(table.add({std::string("d"), 1.0, {}, {}, {}}), std::logic_error);
  EXPECT_THROW(table.add({Estimate{}, {}, {}, {}, {}}), std::logic_error);
  EXPECT_EQ(table.rows.size(), 2u);
}

TEST(FormatNumber, FourSignificantDigits) {
  EXPECT_EQ(format_number(0), "0");
  EXPECT_EQ(format_number(1), "1.000");
  EXPECT_EQ(format_number(-12.3456), "-12.35");
  EXPECT_EQ(format_number(0.000123456), "0.0001235");
  EXPECT_EQ(format_number(65123.4), "65123");
  EXPECT_EQ(format_number(1234567), "1234567");
  EXPECT_EQ(format_number(0.000012345), "1.234e-05");
  EXPECT_EQ(format_number(2.5e12), "2.500e+12");
}

}  // namespace
}  // namespace amasia
