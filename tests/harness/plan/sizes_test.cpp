#include "harness/plan/sizes.hpp"

#include <gtest/gtest.h>

#include "harness/errors.hpp"
#include "tests/harness/plan/planned_apps.hpp"
#include "tests/messages.hpp"

namespace amasia {
namespace {

const AppToPlan app("alpha");

Device device_with(std::size_t free_bytes) {
  Device d;
  d.free_bytes = free_bytes;
  return d;
}

TEST(Sizes, AreThePresetsOwnUnlessAskedOtherwise) {
  SizeRequest request;
  request.otherwise = Preset::smoke;
  EXPECT_EQ(sizes_of(app, request, 5).size(), 3u);
  request.preset = Preset::paper;
  EXPECT_EQ(sizes_of(app, request, 5).size(), 2u);
}

TEST(Sizes, GivenOneByOneBelongToOneApp) {
  SizeRequest request;
  request.given = {"n=7", "n=8"};
  const auto sizes = sizes_of(app, request, 1);
  ASSERT_EQ(sizes.size(), 2u);
  EXPECT_EQ(sizes[1].integer("n"), 8);
  EXPECT_TRUE(contains(message_of<UsageError>([&] { sizes_of(app, request, 2); }), "one app"));
  request.preset = Preset::quick;
  EXPECT_TRUE(contains(message_of<UsageError>([&] { sizes_of(app, request, 1); }), "exclude"));
}

TEST(Sizes, ThatDoNotFitAreRefusedOnlyWhenGivenOneByOne) {
  SizeRequest request;
  request.given = {"n=100"};
  const auto sizes = sizes_of(app, request, 1);
  EXPECT_NO_THROW(refuse_too_large(app, sizes, request, device_with(800)));
  const std::string error =
      message_of<UsageError>([&] { refuse_too_large(app, sizes, request, device_with(799)); });
  EXPECT_TRUE(contains(error, "800 bytes"));
  EXPECT_TRUE(contains(error, "799 are available"));
  SizeRequest of_preset;
  EXPECT_NO_THROW(refuse_too_large(app, sizes, of_preset, device_with(1)));
}

}  // namespace
}  // namespace amasia
