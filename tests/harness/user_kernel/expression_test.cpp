#include "harness/user_kernel/expression.hpp"

#include <gtest/gtest.h>

#include <string>

#include "inputs/errors.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

std::optional<std::int64_t> parameter_of(std::string_view name) {
  if (name == "n") return 1000;
  if (name == "tile_x") return 32;
  if (name == "most") return INT64_MAX;
  if (name == "least") return INT64_MIN;
  return std::nullopt;
}

std::int64_t computed(std::string_view text) { return evaluate(text, parameter_of); }
std::string refusal(std::string_view text) {
  return message_of<UsageError>([&] { computed(text); });
}

TEST(Expression, ComputesAsASchoolbookDoes) {
  EXPECT_EQ(computed("7"), 7);
  EXPECT_EQ(computed("(n + 255) / 256"), 4);
  EXPECT_EQ(computed("n+255/256"), 1000);
  EXPECT_EQ(computed(" 2 * (n - 1) * 3 "), 5994);
  EXPECT_EQ(computed("n / tile_x / 2"), 15);
  EXPECT_EQ(computed("10 - 3 - 2"), 5);
  EXPECT_EQ(computed("-n / 3"), -333);
  EXPECT_EQ(computed("--4"), 4);
  EXPECT_EQ(computed("least"), INT64_MIN);
}

TEST(Expression, RefusesInOneClauseWhatItCannotCompute) {
  EXPECT_EQ(refusal(""), "\"\": it ends where a number or a parameter is expected");
  EXPECT_TRUE(contains(refusal("n +"), "it ends where"));
  EXPECT_TRUE(contains(refusal("m"), "'m' is no parameter"));
  EXPECT_TRUE(contains(refusal("(n"), "a parenthesis is not closed"));
  EXPECT_TRUE(contains(refusal("n)"), "')' is not expected there"));
  EXPECT_TRUE(contains(refusal("n % 2"), "'%' is not expected there"));
  EXPECT_TRUE(contains(refusal("2n"), "'2n' is no integer"));
  EXPECT_TRUE(contains(refusal("n / 0"), "it divides by zero"));
  EXPECT_TRUE(contains(refusal("n / (n - 1000)"), "it divides by zero"));
  EXPECT_TRUE(contains(refusal("99999999999999999999"), "beyond 64 bits"));
  for (const char* text :
       {"most + 1", "least - 1", "most * 2", "least / -1", "-least", "least * -1"}) {
    EXPECT_TRUE(contains(refusal(text), "beyond 64 bits")) << text;
  }
  EXPECT_TRUE(contains(refusal(std::string(1000, '(')), "nested too deeply"));
  EXPECT_TRUE(contains(refusal(std::string(1000, '-')), "nested too deeply"));
}

}  // namespace
}  // namespace amasia
