// The grids that a run launches, read off its graph (harness/gpu/launched_blocks.cpp), and what the
// driver says of loaded code. nw's own: nw_bytes_in_flight_test.cpp.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "harness/gpu/launched_blocks.hpp"
#include "harness/gpu/loaded_code.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"

namespace amasia::nw_launched_blocks_test {
namespace {

__global__ void one(int* out) { out[0] = 1; }
__global__ void other(int* out) { out[1] = 1; }

template <class Kernel>
std::string name_of(Kernel* kernel) {
  const char* name = nullptr;
  AMASIA_CUDA(cudaFuncGetName(&name, reinterpret_cast<const void*>(kernel)));
  return name;
}

class LaunchedBlocksTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string reason;
    if (device_count(reason) == 0) GTEST_SKIP() << reason;
    device_ = query_device(0);
    stream_ = std::make_unique<OwnedStream>();
    out_ = DeviceArray<int>(2);
    AMASIA_CUDA(cudaMemset(out_.data(), 0, out_.bytes()));
  }
  LaunchedBlocks blocks(const Launch& launch) { return launched_blocks(launch, *stream_); }
  int* out() { return out_.data(); }

  Device device_;
  std::unique_ptr<OwnedStream> stream_;
  DeviceArray<int> out_;
};

TEST_F(LaunchedBlocksTest, TakesTheLargestLaunchOfEachKernel) {
  const LaunchedBlocks found = blocks([this](Stream s) {
    one<<<3, 32, 0, s>>>(out());
    other<<<dim3(2, 3, 4), 1, 0, s>>>(out());
    one<<<dim3(5, 7), 64, 0, s>>>(out());
    one<<<1, 32, 0, s>>>(out());
  });
  EXPECT_EQ(found, (LaunchedBlocks{{name_of(one), 35}, {name_of(other), 24}}));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(LaunchedBlocksTest, PerformsNothing) {
  blocks([this](Stream s) { one<<<3, 32, 0, s>>>(out()); });
  AMASIA_CUDA(cudaDeviceSynchronize());
  int values[2] = {};
  out_.download(values);
  EXPECT_EQ(values[0], 0);
}

TEST_F(LaunchedBlocksTest, SeesLaunchesOnOtherStreamsAmongMemsets) {
  OwnedStream beside;
  OwnedEvent begun, done;
  const LaunchedBlocks found = blocks([&](Stream s) {
    AMASIA_CUDA(cudaMemsetAsync(out(), 0, 4, s));
    AMASIA_CUDA(cudaEventRecord(begun, s));
    AMASIA_CUDA(cudaStreamWaitEvent(beside, begun));
    other<<<9, 32, 0, beside>>>(out());
    one<<<4, 32, 0, s>>>(out());
    AMASIA_CUDA(cudaEventRecord(done, beside));
    AMASIA_CUDA(cudaStreamWaitEvent(s, done));
  });
  EXPECT_EQ(found, (LaunchedBlocks{{name_of(one), 4}, {name_of(other), 9}}));
}

TEST_F(LaunchedBlocksTest, SeesCooperativeLaunchesAndClusters) {
  if (!device_.cooperative_launch) GTEST_SKIP() << "no cooperative launch";
  LaunchShape together{dim3(6), dim3(32)};
  together.cooperative = true;
  EXPECT_EQ(blocks([&](Stream s) { launch(one, together, s, out()); }),
            (LaunchedBlocks{{name_of(one), 6}}));
  if (device_.compute_capability < 90) GTEST_SKIP() << "no clusters";
  LaunchShape clusters{dim3(8), dim3(32)};
  clusters.cluster_blocks = 4;
  EXPECT_EQ(blocks([&](Stream s) { launch(one, clusters, s, out()); }),
            (LaunchedBlocks{{name_of(one), 8}}));
}

TEST_F(LaunchedBlocksTest, ARunThatCannotBeCapturedIsNotKnownAndLeavesNoError) {
  EXPECT_TRUE(blocks([this](Stream s) {
                one<<<3, 32, 0, s>>>(out());
                AMASIA_CUDA(cudaStreamSynchronize(s));  // not allowed in a capture
              }).empty());
  EXPECT_TRUE(blocks([](Stream) { throw std::runtime_error("no launch"); }).empty());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(blocks([this](Stream s) { one<<<3, 32, 0, s>>>(out()); }).size(), 1u);
}

TEST_F(LaunchedBlocksTest, LoadedCodeIsThatOfTheBuild) {
  const LoadedCode code = loaded_code(reinterpret_cast<const void*>(one), device_);
  EXPECT_GE(code.ptx, 70) << "the driver does not say what the code was compiled for";
  EXPECT_LE(code.ptx, device_.compute_capability);
  EXPECT_GE(code.binary, code.ptx);
}

}  // namespace
}  // namespace amasia::nw_launched_blocks_test
