// Which config `best` runs when the tuner's winner cannot.
#include "harness/gpu/preparation.hpp"

#include <gtest/gtest.h>

namespace amasia {
namespace {

class Nothing : public Instance {
 public:
  void reset(Stream) override {}
  Verdict verify() override { return {}; }
};

Config config(const char* name, const char* objection = nullptr) {
  Config c;
  c.info.name = name;
  c.unsupported = [objection](const Instance&, const Device&) -> std::optional<std::string> {
    if (objection == nullptr) return std::nullopt;
    return objection;
  };
  return c;
}

/// The original, one whose work is done at this size, two that run.
Variant variant() {
  Variant v;
  v.app = "some";
  v.strategy = "app";
  v.configs = {config("iso"), config("shared", "has nothing to share here"), config("plain"),
               config("wide")};
  return v;
}

struct Choice {
  std::string config, reason;
};
Choice best(const Variant& v, const std::string& winner) {
  Choice choice;
  const Config* chosen = choose_best(v, winner, Nothing(), Device{}, choice.reason);
  if (chosen != nullptr) choice.config = chosen->info.name;
  return choice;
}

TEST(ChooseBest, RunsTheWinnerWithoutARemark) {
  const Variant v = variant();
  EXPECT_EQ(best(v, "wide").config, "wide");
  EXPECT_EQ(best(v, "wide").reason, "");
  EXPECT_EQ(best(v, "iso").config, "iso");  // the original may win
}

TEST(ChooseBest, WithoutAWinnerTakesTheFirstThatRunsButTheOriginal) {
  const Choice choice = best(variant(), "");
  EXPECT_EQ(choice.config, "plain");
  EXPECT_EQ(choice.reason, "");
}

TEST(ChooseBest, SaysWhyItIsNotTheWinner) {
  const Choice choice = best(variant(), "shared");
  EXPECT_EQ(choice.config, "plain");
  EXPECT_EQ(choice.reason, "the winner shared has nothing to share here");
}

TEST(ChooseBest, HasNoneWhereNoneRuns) {
  Variant v = variant();
  v.configs = {config("iso"), config("plain", "needs more than there is")};
  EXPECT_EQ(best(v, "plain").config, "");
  EXPECT_EQ(best(v, "plain").reason, "needs more than there is");
}

TEST(ChooseConfig, OfANameIsThatOneOrNone) {
  const Variant v = variant();
  std::string reason;
  EXPECT_EQ(choose_config(v, "shared", Nothing(), Device{}, reason), nullptr);
  EXPECT_EQ(reason, "has nothing to share here");
  EXPECT_EQ(choose_config(v, "unknown", Nothing(), Device{}, reason), nullptr);
  EXPECT_EQ(reason, "has no config 'unknown'");
}

}  // namespace
}  // namespace amasia
