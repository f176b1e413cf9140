// Which config `best` runs when the tuner's winner cannot.
#include "harness/gpu/preparation.hpp"
#include "tests/test.hpp"

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

/// The config that is chosen, and why it is not the winner.
std::pair<std::string, std::string> best(const Variant& v, const std::string& winner) {
  std::string reason;
  const Config* chosen = choose_best(v, winner, Nothing(), Device{}, reason);
  return {chosen == nullptr ? "" : chosen->info.name, reason};
}

TEST(ChooseBest, IsTheWinnerOrSaysWhyItIsNot) {
  using Choice = std::pair<std::string, std::string>;
  Variant v = variant();
  EXPECT_EQ(best(v, "wide"), Choice("wide", ""));
  EXPECT_EQ(best(v, "iso"), Choice("iso", "")) << "the original may win";
  EXPECT_EQ(best(v, ""), Choice("plain", "")) << "the first that runs but the original";
  EXPECT_EQ(best(v, "shared"), Choice("plain", "the winner shared has nothing to share here"));
  v.configs = {config("iso"), config("plain", "needs more than there is")};
  EXPECT_EQ(best(v, "plain"), Choice("", "needs more than there is"));
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
