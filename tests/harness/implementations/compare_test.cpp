// What needs a device is tested from Python on the stub's: tests/amasia.
#include "harness/implementations/compare.hpp"

#include <gtest/gtest.h>

#include "harness/registry.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

Implementations implementations(const std::vector<std::string>& names) {
  Implementations c;
  c.names = names;
  c.enqueue = [](std::size_t, Stream) {};
  return c;
}

TEST(CompareImplementations, RefusesWhatHasNoNamesAndForgetsIt) {
  const auto objection = [](const std::vector<std::string>& names) {
    return message_of<UsageError>([&] { compare_implementations(implementations(names)); });
  };
  EXPECT_EQ(objection({"old"}), "'callables' has 1 implementation: a comparison needs two or more");
  EXPECT_EQ(objection({"old", "old"}), "two implementations are called 'old'");
  EXPECT_EQ(find_app("callables"), nullptr);
}

TEST(CompareImplementations, AnswersUnderTheNamesOfTheCaller) {
  Comparison c;
  c.variant = "callables/new";
  c.against = "callables/baseline";
  c.speedup.ratio = 0.5;
  c.speedup.low = 0.4;
  c.speedup.high = 0.625;
  c.claim = SpeedClaim::slower;
  EXPECT_EQ(answer(c, "old"), "new ran 2.000x [1.600, 2.500] slower than old");
  c.claim = SpeedClaim::within_noise;
  EXPECT_EQ(answer(c, "old"), "new against old: within A/A noise, 0.5000x [0.4000, 0.6250]");
  c.control = true;
  c.variant = c.against;
  EXPECT_EQ(answer(c, "old"), "old again against old: within A/A noise, 0.5000x [0.4000, 0.6250]");
}

}  // namespace
}  // namespace amasia
