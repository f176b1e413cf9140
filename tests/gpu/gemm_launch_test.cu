// Launches that are prepared one after the other and run in another order
// (variants/device/launch.cpp).
#include <gtest/gtest.h>

#include <string>

#include "harness/device.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"

namespace amasia::gemm_launch_test {
namespace {

__global__ void last_byte(unsigned bytes, unsigned* out) {
  extern __shared__ unsigned char memory[];
  memory[bytes - 1] = 7;
  *out = bytes + memory[bytes - 1];
}

TEST(Launch, AConfigWithFewerStagesLeavesTheDeeperOneItsSharedMemory) {
  std::string reason;
  if (device_count(reason) == 0) GTEST_SKIP() << reason;
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
}  // namespace amasia::gemm_launch_test
