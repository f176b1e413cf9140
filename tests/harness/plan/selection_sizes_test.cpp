#include "harness/plan/selection.hpp"

#include <gtest/gtest.h>

#include <set>

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

TEST(ShardMembers, AreDisjointCompleteAndEven) {
  for (std::size_t count = 0; count <= 30; ++count) {
    for (int n = 1; n <= 12; ++n) {
      std::set<std::size_t> seen;
      std::size_t least = count, most = 0;
      for (int i = 1; i <= n; ++i) {
        const auto members = shard_members(count, i, n);
        least = std::min(least, members.size());
        most = std::max(most, members.size());
        for (const std::size_t member : members) {
          EXPECT_LT(member, count);
          EXPECT_TRUE(seen.insert(member).second) << member << " is dealt twice";
        }
      }
      EXPECT_EQ(seen.size(), count);
      EXPECT_LE(most - least, 1u);
    }
  }
}

TEST(ParseShard, ReadsWhatItIsGiven) {
  EXPECT_EQ(parse_shard("3/16").index, 3);
  EXPECT_EQ(parse_shard("3/16").count, 16);
  EXPECT_EQ(parse_shard("1000000/1000000").index, 1000000);
}

TEST(ParseShard, RefusesWhatIsNoShardAndWhatWouldWrapAround) {
  for (const char* text : {"", "x", "3", "/", "1/", "/2", "0/3", "4/3", "-1/3", "1/-3", "1/2/3",
                           " 1/2", "1/2x", "1.5/2", "4294967297/4294967298", "1/1000001"}) {
    EXPECT_TRUE(contains(message_of<UsageError>([&] { parse_shard(text); }), "expected i/n"))
        << text;
  }
}

}  // namespace
}  // namespace amasia
