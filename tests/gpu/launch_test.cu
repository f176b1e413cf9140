// Launches: the grids that a run launches, read off its graph (harness/gpu/preparation.cpp),
// what the driver says of loaded code, and two that are prepared in one order and run in the other
// (variants/device/launch.cpp).
#include "harness/gpu/loaded_code.hpp"
#include "harness/gpu/preparation.hpp"
#include "tests/gpu/device_test.hpp"
#include "variants/device/launch.hpp"

namespace amasia::gpu_launch_test {
namespace {

__global__ void one(int* out) { out[0] = 1; }
__global__ void other(int* out) { out[1] = 1; }

template <class Kernel>
std::string name_of(Kernel* kernel) {
  const char* name = nullptr;
  AMASIA_CUDA(cudaFuncGetName(&name, reinterpret_cast<const void*>(kernel)));
  return name;
}

class LaunchedBlocksTest : public OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    stream_ = std::make_unique<OwnedStream>();
    out_ = DeviceArray<int>(2);
    AMASIA_CUDA(cudaMemset(out_.data(), 0, out_.bytes()));
  }
  LaunchedBlocks blocks(const Launch& launch) { return launched_blocks(launch, *stream_); }
  int* out() { return out_.data(); }

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
  if (!device.cooperative_launch) GTEST_SKIP() << "no cooperative launch";
  LaunchShape together{dim3(6), dim3(32)};
  together.cooperative = true;
  EXPECT_EQ(blocks([&](Stream s) { launch(one, together, s, out()); }),
            (LaunchedBlocks{{name_of(one), 6}}));
  if (device.compute_capability < 90) GTEST_SKIP() << "no clusters";
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

// No wavefront over so few rows fills the device: occupancy is not the grid.
TEST_F(LaunchedBlocksTest, BytesInFlightAreThoseOfTheFewBlocksOfNw) {
  if (find_app("nw") == nullptr) GTEST_SKIP() << "this build has no nw";
  const auto i = instance("nw", {{"rows", "256"}, {"cols", "300"}});
  int kernels = 0;
  for (const Variant* variant : variants_of("nw")) {
    for (const Config& config : variant->configs) {
      SCOPED_TRACE(variant->name() + " " + config.info.name);
      std::string reason;
      if (choose_config(*variant, config.info.name, *i, device, reason) == nullptr) continue;
      const LaunchedBlocks found = blocks(config.prepare(*i, device));
      for (const KernelUse& k : config.info.kernels) {
        const KernelEvidence e = resources_of(k, device, found);
        ASSERT_TRUE(e.launched_blocks.has_value());
        if (*e.launched_blocks == 0) continue;  // a kernel for other sizes
        ++kernels;
        EXPECT_LE(*e.launched_blocks, 64);
        const auto fit = static_cast<std::int64_t>(e.blocks_per_sm) * device.sm_count;
        const auto most = static_cast<std::size_t>(std::min(*e.launched_blocks, fit));
        EXPECT_EQ(e.bytes_in_flight_per_sm,
                  k.bytes_in_flight_per_block * most / static_cast<std::size_t>(device.sm_count));
        // Without the launch all that fit are taken to be launched.
        EXPECT_GE(resources_of(k, device).bytes_in_flight_per_sm, e.bytes_in_flight_per_sm);
      }
    }
  }
  EXPECT_GT(kernels, 0);
}

TEST_F(LaunchedBlocksTest, LoadedCodeIsThatOfTheBuild) {
  const LoadedCode code = loaded_code(reinterpret_cast<const void*>(one), device);
  EXPECT_GE(code.ptx, 70) << "the driver does not say what the code was compiled for";
  EXPECT_LE(code.ptx, device.compute_capability);
  EXPECT_GE(code.binary, code.ptx);
}

__global__ void last_byte(unsigned bytes, unsigned* out) {
  extern __shared__ unsigned char memory[];
  memory[bytes - 1] = 7;
  *out = bytes + memory[bytes - 1];
}

using LaunchTest = OnDevice<>;

TEST_F(LaunchTest, AConfigWithFewerStagesLeavesTheDeeperOneItsSharedMemory) {
  const DeviceBytes out(sizeof(unsigned));
  const auto run = [&](const LaunchShape& shape) {
    const auto bytes = static_cast<unsigned>(shape.dynamic_shared_bytes);
    launch(last_byte, shape, nullptr, bytes, static_cast<unsigned*>(out.data()));
    unsigned found = 0;
    AMASIA_CUDA(cudaMemcpy(&found, out.data(), sizeof found, cudaMemcpyDeviceToHost));
    EXPECT_EQ(found, bytes + 7);
  };
  LaunchShape deep{dim3(1), dim3(1)}, shallow = deep;
  deep.dynamic_shared_bytes = 60 << 10;  // every supported GPU has 64 KB for a block
  shallow.dynamic_shared_bytes = 50 << 10;
  const auto* const kernel = reinterpret_cast<const void*>(last_byte);
  allow_launch(kernel, deep);
  allow_launch(kernel, shallow);
  run(deep);
  run(shallow);
}

}  // namespace
}  // namespace amasia::gpu_launch_test
