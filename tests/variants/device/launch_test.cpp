// What a launch is told, without a device.
#include <gtest/gtest.h>

#include "variants/device/launch.hpp"

namespace amasia {
namespace {

TEST(LaunchAttributes, OfAPlainLaunchAreNone) {
  EXPECT_EQ(attributes_of({dim3(8), dim3(256)}).count, 0u);
  EXPECT_EQ(attributes_of({dim3(8), dim3(256), 1 << 17}).count, 0u);
}

TEST(LaunchAttributes, SayHowManyBlocksAClusterHasAlongX) {
  const LaunchAttributes attributes = attributes_of({dim3(8), dim3(256), 0, 4});
  ASSERT_EQ(attributes.count, 1u);
  EXPECT_EQ(attributes.list[0].id, cudaLaunchAttributeClusterDimension);
  EXPECT_EQ(attributes.list[0].val.clusterDim.x, 4u);
  EXPECT_EQ(attributes.list[0].val.clusterDim.y, 1u);
  EXPECT_EQ(attributes.list[0].val.clusterDim.z, 1u);
}

TEST(LaunchAttributes, AskForAllBlocksAtOnce) {
  const LaunchAttributes attributes = attributes_of({dim3(8), dim3(256), 0, 1, true});
  ASSERT_EQ(attributes.count, 1u);
  EXPECT_EQ(attributes.list[0].id, cudaLaunchAttributeCooperative);
  EXPECT_EQ(attributes.list[0].val.cooperative, 1);
}

TEST(LaunchAttributes, GoTogether) {
  const LaunchAttributes attributes = attributes_of({dim3(8), dim3(256), 0, 2, true});
  ASSERT_EQ(attributes.count, 2u);
  EXPECT_EQ(attributes.list[0].id, cudaLaunchAttributeClusterDimension);
  EXPECT_EQ(attributes.list[1].id, cudaLaunchAttributeCooperative);
}

}  // namespace
}  // namespace amasia
