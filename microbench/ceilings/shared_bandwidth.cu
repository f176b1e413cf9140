// Bandwidth of shared memory, all SMs together, in GB/s (1e9).
//
// Method: blocks of 1024 threads, as many as fit, each read their own 32 KiB of shared memory over
// and over in 16-byte words, neighbours next to each other: no bank conflicts, 128 bytes per clock
// and SM if nothing else limits. The address changes each time, so that no load can be hoisted; the
// values are folded pairwise into a sum, less ALU work than the loads leave room for.

#include "harness/ceiling.hpp"
#include "microbench/ceilings/timing.hpp"
#include "variants/device/cuda.hpp"

namespace amasia::ceilings {
namespace {

constexpr int threads = 1024;
constexpr int words = 2048;  // 32 KiB
constexpr int unroll = 8;
constexpr int iterations = 512;

__global__ void __launch_bounds__(threads) read_shared(int* sink) {
  __shared__ int4 data[words];
  for (int i = threadIdx.x; i < words; i += threads) data[i] = make_int4(i, i * i, ~i, i << 7);
  __syncthreads();

  int x = 0, y = 0, z = 0, w = 0;
#pragma unroll 1
  for (int n = 0; n < iterations; ++n) {
    // One address per eight loads, the rest are immediate offsets. A warp's words stay consecutive.
    const int4* const mine = data + (threadIdx.x + n * 32) % (words / 2);
#pragma unroll
    for (int k = 0; k < unroll; k += 2) {
      const int4 a = mine[k * (words / 2 / unroll)];
      const int4 b = mine[(k + 1) * (words / 2 / unroll)];
      x ^= a.x ^ b.x;
      y ^= a.y ^ b.y;
      z ^= a.z ^ b.z;
      w ^= a.w ^ b.w;
    }
  }
  if ((x ^ y ^ z ^ w) == 0x12345678) *sink = x;
}

double measure_shared(const Device& device, Stream stream) {
  const DeviceArray<int> sink(1);
  const unsigned blocks = full_grid(read_shared, threads, device.sm_count);
  const double ms =
      warm_milliseconds(stream, [&] { read_shared<<<blocks, threads, 0, stream>>>(sink.data()); });
  return static_cast<double>(blocks) * threads * iterations * unroll * sizeof(int4) / ms * 1e-6;
}

const bool registered = register_ceiling(
    {"shared_bandwidth", "GB/s",
     "Shared memory of every SM read in 16-byte words without bank conflicts, full occupancy", true,
     0, measure_shared});

}  // namespace
}  // namespace amasia::ceilings
