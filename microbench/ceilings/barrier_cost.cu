// What a barrier costs when everybody arrives at once: of a block (ns), of a cluster (ns), of the
// whole grid (us).
//
// Method: one block of 256 threads per SM does nothing but synchronise, at two counts; the slope is
// the cost of one barrier. The cluster barrier is arrive.release + wait.acquire among clusters of
// two such blocks, the least that hands data over; the grid barrier is that of cooperative groups.

#include <cooperative_groups.h>

#include "harness/ceiling.hpp"
#include "microbench/ceilings/timing.hpp"
#include "variants/device/cuda.hpp"
#include "variants/device/launch.hpp"
#include "variants/ptx/cluster.cuh"

namespace amasia::ceilings {
namespace {

constexpr int threads = 256;

__global__ void __launch_bounds__(threads) block_barriers(int count) {
#pragma unroll 8
  for (int i = 0; i < count; ++i) __syncthreads();
}

__global__ void __launch_bounds__(threads) cluster_barriers(int count) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#pragma unroll 8
  for (int i = 0; i < count; ++i) dsm::cluster_sync();
#endif
}

__global__ void __launch_bounds__(threads) grid_barriers(int count) {
  const auto grid = cooperative_groups::this_grid();
  for (int i = 0; i < count; ++i) grid.sync();
}

double measure_block(const Device& device, Stream stream) {
  return slope_ns(stream, 4000, 36000, [&](int count) {
    block_barriers<<<device.sm_count, threads, 0, stream>>>(count);
  });
}

double measure_cluster(const Device& device, Stream stream) {
  LaunchShape shape;
  shape.grid = dim3(device.sm_count / 2 * 2);
  shape.block = dim3(threads);
  shape.cluster_blocks = 2;
  return slope_ns(stream, 800, 7200,
                  [&](int count) { launch(cluster_barriers, shape, stream, count); });
}

double measure_grid(const Device& device, Stream stream) {
  if (!device.cooperative_launch) {
    throw std::runtime_error(
        "the device has no cooperative launch, so no barrier of the whole grid");
  }
  LaunchShape shape;
  shape.grid = dim3(device.sm_count);
  shape.block = dim3(threads);
  shape.cooperative = true;
  return 1e-3 * slope_ns(stream, 200, 1800,
                         [&](int count) { launch(grid_barriers, shape, stream, count); });
}

const bool registered =
    register_ceiling(
        {"block_barrier_ns", "ns",
         "__syncthreads of 256 threads, one block per SM: slope between 4,000 and 36,000", false, 0,
         measure_block}) &&
    register_ceiling(
        {"cluster_barrier_ns", "ns",
         "Release/acquire barrier of clusters of two blocks of 256 threads on all SMs: "
         "slope between 800 and 7,200",
         false, 90, measure_cluster}) &&
    register_ceiling(
        {"grid_barrier_us", "us",
         "Cooperative grid barrier, one block of 256 threads per SM: slope between 200 "
         "and 1,800",
         false, 0, measure_grid});

}  // namespace
}  // namespace amasia::ceilings
