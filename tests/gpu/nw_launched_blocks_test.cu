// The grids that a run launches, read off its graph, and the bytes in flight that follow
// (harness/gpu/launched_blocks.cpp).
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "harness/gpu/loaded_code.hpp"
#include "harness/gpu/preparation.hpp"
#include "harness/registry.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"

namespace amasia {
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

// What no wavefront over so few rows can fill: a config with a figure of the whole device took its
// occupancy for its grid.
TEST_F(LaunchedBlocksTest, NwHasInFlightWhatItsFewBlocksHave) {
  const auto instance = (*find_instance_factory("nw"))(
      Parameters(find_app("nw")->parameters(), {{"rows", "256"}, {"cols", "300"}}), 7);
  int kernels = 0;
  for (const Variant* variant : variants_of("nw")) {
    for (const Config& config : variant->configs) {
      SCOPED_TRACE(variant->name() + " " + config.info.name);
      std::string reason;
      if (choose_config(*variant, config.info.name, *instance, device_, reason) == nullptr) {
        continue;
      }
      const LaunchedBlocks found = blocks(config.prepare(*instance, device_));
      for (const KernelUse& k : config.info.kernels) {
        const KernelEvidence e = resources_of(k, device_, found);
        ASSERT_TRUE(e.launched_blocks.has_value());
        if (*e.launched_blocks == 0) continue;  // a kernel for other sizes
        ++kernels;
        EXPECT_LE(*e.launched_blocks, 64);
        const auto fit = static_cast<std::int64_t>(e.blocks_per_sm) * device_.sm_count;
        const auto most = static_cast<std::size_t>(std::min(*e.launched_blocks, fit));
        EXPECT_EQ(e.bytes_in_flight_per_sm,
                  k.bytes_in_flight_per_block * most / static_cast<std::size_t>(device_.sm_count));
        // Without the launch it is what would be under way if all that fit were launched.
        EXPECT_GE(resources_of(k, device_).bytes_in_flight_per_sm, e.bytes_in_flight_per_sm);
      }
    }
  }
  EXPECT_GT(kernels, 0);
}

}  // namespace
}  // namespace amasia
