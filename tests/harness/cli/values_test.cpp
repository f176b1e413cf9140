#include "harness/cli/values.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

/// What the check says of `text`; "" when it accepts it. Shows what became of the text.
std::string said(const CLI::Validator& check, std::string text, std::string* became = nullptr) {
  std::string message = check(text);
  if (became != nullptr) *became = text;
  return message;
}

TEST(Values, ANumberIsFiniteAndInRange) {
  const CLI::Validator seconds = number_between(0.001, 604800, "seconds");
  for (const char* text : {"0.001", "1", "1e3", "604800"}) EXPECT_EQ(said(seconds, text), "");
  for (const char* text : {"nan", "NaN", "-nan", "inf", "-inf", "-1", "0", "1e300", "1e999", "",
                           "1s", " 1", "0x10", "1,5"}) {
    EXPECT_EQ(said(seconds, text),
              "'" + std::string(text) + "' is no number of seconds from 0.001 to 604800");
  }
}

TEST(Values, AnIntegerIsDecimalAndFits) {
  const CLI::Validator device = integer_between(0, 1023);
  std::string became;
  EXPECT_EQ(said(device, "010", &became), "");
  EXPECT_EQ(became, "10") << "not octal";
  for (const char* text : {"-1", "1024", "1.0", "0x1", "", "100000000000000000000", "nan"}) {
    EXPECT_NE(said(device, text), "") << text;
  }
}

TEST(Values, ASeedHas64BitsAndNoOverlongMessage) {
  EXPECT_EQ(said(unsigned_integer(), "18446744073709551615"), "");
  EXPECT_NE(said(unsigned_integer(), "18446744073709551616"), "");
  const std::string digits(5000, '9');
  EXPECT_LT(said(unsigned_integer(), digits).size(), 150u);
  EXPECT_LT(said(one_of({"cold", "hot"}), digits).size(), 150u);
}

TEST(Values, AWrongChoiceIsAnsweredWithTheNearest) {
  EXPECT_EQ(said(one_of({"cold", "hot"}), "hot"), "");
  EXPECT_EQ(said(one_of({"smoke", "quick"}), "quik"), "no 'quik': did you mean quick?");
}

}  // namespace
}  // namespace amasia
