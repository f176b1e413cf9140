// What of launches, libraries and tensor maps can be tested without a device.
#include "tests/test.hpp"
#include "variants/device/launch.hpp"
#include "variants/device/library.hpp"
#include "variants/device/tensor_map.hpp"

namespace amasia {
namespace {

TEST(LaunchAttributes, AreThoseOfClustersAndOfAllBlocksAtOnce) {
  EXPECT_EQ(attributes_of({dim3(8), dim3(256)}).count, 0u);
  EXPECT_EQ(attributes_of({dim3(8), dim3(256), 1 << 17}).count, 0u);
  for (const unsigned blocks : {1u, 4u}) {
    for (const bool cooperative : {false, true}) {
      const LaunchAttributes all = attributes_of({dim3(8), dim3(256), 0, blocks, cooperative});
      const unsigned clusters = blocks > 1 ? 1 : 0;
      ASSERT_EQ(all.count, clusters + (cooperative ? 1u : 0u));
      if (clusters > 0) {
        EXPECT_EQ(all.list[0].id, cudaLaunchAttributeClusterDimension);
        const auto& shape = all.list[0].val.clusterDim;
        EXPECT_TRUE(shape.x == blocks && shape.y == 1 && shape.z == 1);
      }
      if (cooperative) {
        EXPECT_EQ(all.list[clusters].id, cudaLaunchAttributeCooperative);
        EXPECT_EQ(all.list[clusters].val.cooperative, 1);
      }
    }
  }
}

TEST(Library, IsFoundUnderTheFirstNameThatExists) {
  const Library library({"libabsent.so.1", "libm.so.6"});
  ASSERT_TRUE(library.loaded());
  EXPECT_EQ(library.function<double(double)>("fabs")(-3.0), 3.0);
}

TEST(Library, SaysWhichFunctionItDoesNotHave) {
  const Library library({"libm.so.6"});
  EXPECT_EQ(message_of<std::runtime_error>([&] { library.function<void()>("no_such_function"); }),
            "libm.so.6 has no function no_such_function");
}

TEST(Library, SaysWhatWasLookedFor) {
  const Library library({"libabsent.so.2", "libabsent.so.1"});
  EXPECT_FALSE(library.loaded());
  EXPECT_TRUE(contains(library.reason(), "none of libabsent.so.2 libabsent.so.1 was found"));
  EXPECT_TRUE(contains(message_of<std::runtime_error>([&] { library.function<void()>("any"); }),
                       "was found"));
}

/// A grid of 100 x 100 at an address that nobody reads.
template <class T>
Grid<const T> grid(std::int64_t pitch = 128) {
  return {reinterpret_cast<const T*>(std::uintptr_t{4096}), 100, 100, pitch};
}

template <class T>
std::string refusal(const Grid<const T>& of, int box_rows, int box_columns,
                    Swizzle swizzle = Swizzle::none) {
  return message_of<std::runtime_error>(
      [&] { (void)tensor_map(of, box_rows, box_columns, swizzle); });
}

TEST(TensorMap, RefusesABoxWithTheLimitThatItBreaks) {
  EXPECT_EQ(refusal(grid<float>(), 257, 32),
            "no tensor map: a box has 1 to 256 rows and columns, not 257 x 32");
  EXPECT_EQ(refusal(grid<int>(), 8, 3),
            "no tensor map: a row of a box is a multiple of 16 bytes, not 12");
  EXPECT_EQ(refusal(grid<float>(), 8, 64, Swizzle::bytes128),
            "no tensor map: a row of a box swizzled by 128 bytes has no more, not 256");
}

TEST(TensorMap, KnowsTheBytesOfItsElements) {
  EXPECT_EQ(refusal(grid<__nv_bfloat16>(), 8, 4),
            "no tensor map: a row of a box is a multiple of 16 bytes, not 8");
  EXPECT_EQ(refusal(grid<__nv_bfloat16>(100), 8, 8),
            "no tensor map: the bytes of a pitch are a multiple of 16 below 2^40, not 100 x 2");
}

}  // namespace
}  // namespace amasia
