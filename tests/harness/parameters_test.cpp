#include "harness/parameters.hpp"
#include "harness/app.hpp"
#include "harness/words.hpp"
#include "tests/test.hpp"

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

TEST(Parameters, ANumberMayHaveAPrefixOrAnExponent) {
  const std::pair<const char*, const char*> cases[] = {
      {"0012", "12"},        {"4k", "4000"},          {"4K", "4000"},
      {"4Ki", "4096"},       {"16 KiB", "16384"},     {"16kB", "16000"},
      {"8 B", "8"},          {"2^20", "1048576"},     {"3MiB", "3145728"},
      {"2 G", "2000000000"}, {"1T", "1000000000000"}, {"2^62", "4611686018427387904"}};
  for (const auto& [text, value] : cases) {
    EXPECT_EQ(Parameters(specs(), {{"cols", text}}), Parameters(specs(), {{"cols", value}}))
        << text;
  }
  EXPECT_FALSE(Parameters(specs(), {{"cols", "13"}}) == Parameters(specs(), {{"cols", "12"}}));
}

TEST(Parameters, SayWhatIsWrong) {
  const struct {
    const char *name, *value, *says;
  } cases[] = {{"row", "3", "unknown parameter 'row': did you mean rows?"},
               {"zzzzzzzz", "3", "valid: rows, cols, offset, chip, input"},
               {"rows", "0", "rows: 0 is out of range; expected 1 to 4000"},
               {"rows", "4001", "out of range"},
               {"cols", "-5", "out of range; expected 1 or more"},
               {"cols", "9223372036854775808", "does not fit in 64 bits"},
               {"cols", "2^63", "does not fit in 64 bits"},
               {"cols", "9223372036854775807k", "does not fit in 64 bits"},
               {"chip", "rodina", "no choice 'rodina'; did you mean rodinia?"},
               {"input", "a,b", "comma"}};
  for (const auto& c : cases) EXPECT_TRUE(contains(error_of({{c.name, c.value}}), c.says));
  for (const char* text : {"", "12x", "1e3", "1.5", " 12", "0x10", "+5", "--5", "4kk", "4i", "4Mb",
                           "4  k", "k", "2^", "2^-1", "2^2k", "2^300"}) {
    EXPECT_TRUE(contains(error_of({{"rows", text}}), "no whole number")) << text;
  }
  const Parameters extreme(specs(),
                           {{"cols", "9223372036854775807"}, {"rows", "4000"}, {"offset", "-10"}});
  EXPECT_EQ(extreme.integer("cols"), INT64_MAX);
  EXPECT_EQ(extreme.integer("rows"), 4000);
  EXPECT_EQ(extreme.integer("offset"), -10);
}

TEST(ParseSize, SplitsOrSaysWhatIsWrong) {
  EXPECT_EQ(parse_size("rows=1,cols=2"), (Given{{"rows", "1"}, {"cols", "2"}}));
  EXPECT_EQ(parse_size("input="), (Given{{"input", ""}}));
  EXPECT_EQ(parse_size("input=a=b"), (Given{{"input", "a=b"}}));
  const std::pair<const char*, const char*> wrong[] = {{"", "is empty"},
                                                       {"rows", "'rows' has no '='"},
                                                       {"=3", "has no name"},
                                                       {"rows=1,", "a parameter is empty"},
                                                       {",rows=1", "a parameter is empty"},
                                                       {"rows=1,rows=1", "'rows' is given twice"}};
  for (const auto& [text, says] : wrong) {
    EXPECT_TRUE(contains(message_of<UsageError>([&, text = text] { parse_size(text); }), says));
  }
}

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

}  // namespace
}  // namespace amasia
