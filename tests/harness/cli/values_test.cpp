#include "harness/cli/values.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

std::string said(const CLI::Validator& check, std::string text) { return check(text); }

TEST(Values, AreTakenOrRefusedInAShortLine) {
  const auto seconds = number_between(0.001, 604800, "seconds");
  const std::string long_one(5000, '9');
  const struct {
    CLI::Validator check;
    std::vector<std::string> right, wrong;
  } cases[] = {
      {seconds,
       {"0.001", "1", "1e3", "604800"},
       {"nan", "-nan", "inf", "-1", "0", "1e999", "", "1s", " 1", "0x10", "1,5", long_one}},
      {integer_between(0, 1023),
       {"0", "1023"},
       {"-1", "1024", "1.0", "0x1", "", "100000000000000000000", "nan"}},
      {unsigned_integer(), {"0", "18446744073709551615"}, {"-1", "18446744073709551616", long_one}},
      {one_of({"cold", "hot"}), {"hot"}, {"", "warm", long_one}}};
  for (const auto& c : cases) {
    for (const std::string& text : c.right) EXPECT_EQ(said(c.check, text), "") << text;
    for (const std::string& text : c.wrong) {
      EXPECT_NE(said(c.check, text), "") << text;
      EXPECT_LT(said(c.check, text).size(), 150u);
    }
  }
  EXPECT_EQ(said(seconds, "1s"), "'1s' is no number of seconds from 0.001 to 604800");
  EXPECT_EQ(said(one_of({"smoke", "quick"}), "quik"), "no 'quik': did you mean quick?");
  std::string became = "010";
  EXPECT_EQ(integer_between(0, 1023)(became), "");
  EXPECT_EQ(became, "10") << "not octal";
}

}  // namespace
}  // namespace amasia
