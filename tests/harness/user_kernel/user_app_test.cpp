#include "harness/user_kernel/user_app.hpp"

#include <gtest/gtest.h>

#include "harness/plan/plan.hpp"
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

TEST(UserApp, EveryImplementationIsARowAtBestAndTheBaselineHasAControl) {
  UserApp app = loaded("rows");
  app.implementations[1].broken = "rows.toml:9: no such file";
  const UserRegistration registration = register_user_app(std::move(app));
  const std::vector<PlannedRow> rows =
      comparison_rows("rows", Parameters{}, variants_of("rows"), {Role::best}, {}, "",
                      CacheMode::cold, LaunchMode::stream);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].variant, "rows/baseline");
  EXPECT_EQ(rows[1].variant, "rows/baseline");
  EXPECT_EQ(rows[1].repeat, 1);
  EXPECT_EQ(rows[2].variant, "rows/new");
  EXPECT_EQ(rows[2].excluded, "rows.toml:9: no such file");
  EXPECT_EQ(rows[0].excluded, "");
}

TEST(UserApp, SaysInOneLineWhatItDoesNotTake) {
  UserApp one = loaded("one");
  one.implementations.pop_back();
  EXPECT_EQ(objection(one), "'one' has 1 implementation: a comparison needs two or more");

  UserApp twice = loaded("twice");
  twice.implementations[1].name = "old";
  twice.implementations[1].place = "twice.toml:12";
  EXPECT_EQ(objection(twice), "twice.toml:12: two implementations are called 'old'");

  UserApp second = loaded("second");
  second.implementations[1].name = "baseline";
  EXPECT_TRUE(contains(objection(second), "name the others otherwise"));

  UserApp slash = loaded("slash");
  slash.implementations[1].name = "a/b";
  EXPECT_TRUE(contains(objection(slash), "name of an implementation 'a/b': letters, digits"));
  EXPECT_TRUE(contains(objection(loaded("")), "it is empty"));
  EXPECT_TRUE(contains(objection(loaded(std::string(65, 'x'))), "more than 64 characters"));

  UserApp nothing = loaded("nothing");
  nothing.implementations[1].prepare = nullptr;
  EXPECT_EQ(objection(nothing), "implementation 'new' has nothing to run");

  UserApp sizeless = loaded("sizeless");
  sizeless.sizes.clear();
  EXPECT_EQ(objection(sizeless), "'sizeless' has no size");

  const UserRegistration taken = register_user_app(loaded("taken"));
  EXPECT_TRUE(contains(objection(loaded("taken")), "an app of this program is"));
  EXPECT_NE(find_app("taken"), nullptr) << "who was there first has been taken away";
}

}  // namespace
}  // namespace amasia
