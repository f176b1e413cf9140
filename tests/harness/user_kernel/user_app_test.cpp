#include "harness/user_kernel/user_app.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "harness/registry.hpp"
#include "harness/results/provenance.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

UserImplementation implementation(const std::string& name, const std::string& digest = "") {
  UserImplementation i;
  i.name = name;
  i.digest = digest;
  i.prepare = [](const Instance&, const Device&) { return [](Stream) {}; };
  return i;
}

UserApp loaded(const std::string& name) {
  UserApp app;
  app.name = name;
  app.sizes = {Parameters{}};
  app.instance = [](const Parameters&, std::uint64_t) { return std::unique_ptr<Instance>(); };
  app.implementations = {implementation("old", "aa"), implementation("new", "bb")};
  return app;
}

/// What registering says against it.
std::string objection(const UserApp& app) {
  return message_of<UsageError>([&] { const auto taken = register_user_app(app); });
}

TEST(UserApp, IsAnAppForAsLongAsItIsRegistered) {
  {
    const UserRegistration registration = register_user_app(loaded("mine"));
    ASSERT_NE(find_app("mine"), nullptr);
    ASSERT_EQ(variants_of("mine").size(), 2u);
    EXPECT_EQ(variants_of("mine")[0]->name(), "mine/baseline");
    EXPECT_EQ(variants_of("mine")[0]->configs.front().info.name, "old");
    EXPECT_EQ(variants_of("mine")[1]->name(), "mine/new");
    EXPECT_NE(find_instance_factory("mine"), nullptr);
    EXPECT_EQ(source_digest("mine/baseline"), "aa");
    EXPECT_EQ(source_digest("mine/new"), "bb");
    EXPECT_EQ(source_digests().at("mine/new"), "bb");
  }
  EXPECT_EQ(find_app("mine"), nullptr);
  EXPECT_TRUE(variants_of("mine").empty());
  EXPECT_EQ(find_instance_factory("mine"), nullptr);
  EXPECT_EQ(source_digest("mine/new"), "");
  EXPECT_FALSE(source_digests().contains("mine/new"));
  // And again, with other code: digests that were asked for before are not remembered.
  UserApp changed = loaded("mine");
  changed.implementations[1].digest = "cc";
  const UserRegistration registration = register_user_app(changed);
  EXPECT_EQ(source_digest("mine/new"), "cc");
}

TEST(UserApp, SaysInOneLineWhatItDoesNotTake) {
  const struct {
    const char* says;
    std::function<void(UserApp&)> spoil;
  } cases[] = {
      {"'mine' has 1 implementation: a comparison needs two or more",
       [](UserApp& app) { app.implementations.pop_back(); }},
      {"mine.toml:12: two implementations are called 'old'",
       [](UserApp& app) {
         app.implementations[1].name = "old";
         app.implementations[1].place = "mine.toml:12";
       }},
      {"name the others otherwise", [](UserApp& app) { app.implementations[1].name = "baseline"; }},
      {"name of an implementation 'a/b': letters, digits",
       [](UserApp& app) { app.implementations[1].name = "a/b"; }},
      {"it is empty", [](UserApp& app) { app.name = ""; }},
      {"more than 64 characters", [](UserApp& app) { app.name = std::string(65, 'x'); }},
      {"implementation 'new' has nothing to run",
       [](UserApp& app) { app.implementations[1].prepare = nullptr; }},
      {"'mine' has no size", [](UserApp& app) { app.sizes.clear(); }},
  };
  for (const auto& c : cases) {
    UserApp app = loaded("mine");
    c.spoil(app);
    EXPECT_TRUE(contains(objection(app), c.says)) << objection(app);
  }
  const UserRegistration taken = register_user_app(loaded("taken"));
  EXPECT_TRUE(contains(objection(loaded("taken")), "an app of this program is"));
  EXPECT_NE(find_app("taken"), nullptr) << "who was there first has been taken away";
}

}  // namespace
}  // namespace amasia
