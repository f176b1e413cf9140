#include "harness/user_kernel/user_app.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace amasia
