#include "harness/parameters.hpp"

#include <gtest/gtest.h>

#include "tests/messages.hpp"

namespace amasia {
namespace {

using Given = std::map<std::string, std::string>;

std::vector<ParameterSpec> specs() {
  using Kind = ParameterSpec::Kind;
  return {
      {"rows", Kind::integer, "rows of the grid", "1000", 1, 4000},
      {"cols", Kind::integer, "columns of the grid", "500"},
      {"offset", Kind::integer, "first row", "0", -10, 10},
      {"chip", Kind::choice, "scaling of the chip", "scaled", 1, INT64_MAX, {"scaled", "rodinia"}},
      {"input", Kind::file, "power grid", ""}};
}

std::string error_of(const Given& given) {
  return message_of<UsageError>([&] { Parameters(specs(), given); });
}

TEST(Parameters, AreCompleteAndInTheOrderOfTheTable) {
  const Parameters p(specs(), {{"input", "a b.txt"}, {"cols", "7"}});
  EXPECT_EQ(p.to_string(), "rows=1000,cols=7,offset=0,chip=scaled,input=a b.txt");
  EXPECT_EQ(p.integer("cols"), 7);
  EXPECT_EQ(p.text("chip"), "scaled");
  EXPECT_EQ(p.values().front().first, "rows");
}

TEST(Parameters, ToStringIsWhatSizeAccepts) {
  const Parameters p(specs(), {{"rows", "12"}, {"offset", "-3"}, {"input", "x=y.txt"}});
  EXPECT_EQ(Parameters(specs(), parse_size(p.to_string())), p);
}

TEST(Parameters, SpellingOfANumberDoesNotMatter) {
  EXPECT_EQ(Parameters(specs(), {{"rows", "0012"}}), Parameters(specs(), {{"rows", "12"}}));
  EXPECT_FALSE(Parameters(specs(), {{"rows", "13"}}) == Parameters(specs(), {{"rows", "12"}}));
}

TEST(Parameters, FromValuesKeepsWhatItIsGiven) {
  const Parameters p(specs(), {});
  EXPECT_EQ(Parameters::from_values(p.values()), p);
}

TEST(Parameters, UnknownNameGetsTheNearest) {
  EXPECT_TRUE(contains(error_of({{"row", "3"}}), "unknown parameter 'row': did you mean rows?"));
  EXPECT_TRUE(contains(error_of({{"clos", "3"}}), "did you mean cols"));
  EXPECT_TRUE(contains(error_of({{"zzzzzzzz", "3"}}), "valid: rows, cols, offset, chip, input"));
}

TEST(Parameters, IntegersAreChecked) {
  for (const char* text : {"", "12x", "1e3", "1.5", " 12", "0x10", "+5", "--5"}) {
    EXPECT_TRUE(contains(error_of({{"rows", text}}), "no integer")) << text;
  }
  EXPECT_TRUE(contains(error_of({{"rows", "0"}}), "rows: 0 is out of range; expected 1 to 4000"));
  EXPECT_TRUE(contains(error_of({{"rows", "4001"}}), "out of range"));
  EXPECT_TRUE(contains(error_of({{"cols", "-5"}}), "out of range; expected 1 or more"));
  EXPECT_TRUE(contains(error_of({{"cols", "9223372036854775808"}}), "does not fit in 64 bits"));
  EXPECT_EQ(Parameters(specs(), {{"cols", "9223372036854775807"}}).integer("cols"), INT64_MAX);
  EXPECT_EQ(Parameters(specs(), {{"rows", "4000"}}).integer("rows"), 4000);
  EXPECT_EQ(Parameters(specs(), {{"offset", "-10"}}).integer("offset"), -10);
}

TEST(Parameters, ChoicesAreChecked) {
  EXPECT_TRUE(
      contains(error_of({{"chip", "rodina"}}), "no choice 'rodina'; did you mean rodinia?"));
  EXPECT_EQ(Parameters(specs(), {{"chip", "rodinia"}}).text("chip"), "rodinia");
}

TEST(Parameters, ACommaInAFileNameIsRefused) {
  EXPECT_TRUE(contains(error_of({{"input", "a,b"}}), "comma"));
}

TEST(Parameters, AskingForWhatIsNotThereIsABug) {
  const Parameters p(specs(), {});
  EXPECT_THROW(p.text("depth"), std::logic_error);
  EXPECT_THROW(p.integer("chip"), std::logic_error);
}

TEST(ParseSize, Splits) {
  EXPECT_EQ(parse_size("rows=1,cols=2"), (Given{{"rows", "1"}, {"cols", "2"}}));
  EXPECT_EQ(parse_size("input="), (Given{{"input", ""}}));
  EXPECT_EQ(parse_size("input=a=b"), (Given{{"input", "a=b"}}));
}

TEST(ParseSize, SaysWhatIsWrong) {
  const auto error = [](const char* text) {
    return message_of<UsageError>([&] { parse_size(text); });
  };
  EXPECT_TRUE(contains(error(""), "is empty"));
  EXPECT_TRUE(contains(error("rows"), "'rows' has no '='"));
  EXPECT_TRUE(contains(error("=3"), "has no name"));
  EXPECT_TRUE(contains(error("rows=1,"), "a parameter is empty"));
  EXPECT_TRUE(contains(error(",rows=1"), "a parameter is empty"));
  EXPECT_TRUE(contains(error("rows=1,rows=1"), "'rows' is given twice"));
}

}  // namespace
}  // namespace amasia
