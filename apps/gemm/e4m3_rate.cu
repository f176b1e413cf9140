// The ceiling of mode e4m3: how fast the tensor cores multiply 8-bit floating point into fp32. It
// bounds this app alone and is measured as the tensor cores' other rates are
// (microbench/ceilings/tensor.cu). Operands are random and where the instruction reads them. Two
// warpgroups per SM do eight multiplications, of which the first forgets the sum before. Elsewhere
// it is mma.sync, eight independent sums a warp. A launch takes milliseconds.
#include "apps/gemm/gemm.hpp"
#include "harness/ceiling.hpp"
#include "variants/device/cuda.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mma.cuh"
#include "variants/ptx/wgmma.cuh"

namespace amasia::gemm {
namespace {

constexpr int threads = 256, groups = threads / 128;
constexpr int iterations = 3000;
constexpr unsigned tile_a = 64 * 128, tile_b = 256 * 128;  // bytes: m and n rows of 128
constexpr unsigned shared_bytes = groups * tile_a + tile_b;

/// Random codes, as mode e4m3 has them.
__device__ std::uint8_t random_code(unsigned i) {
  return round_to_e4m3(input_element(1, 0, Mode::e4m3, 1, i, 0));
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Runs n iterations; returns the multiply-adds of the block in each.
__device__ int multiply(int n, float& folded) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (unsigned i = threadIdx.x; i < shared_bytes; i += threads) tiles[i] = random_code(i);
  tma::fence_async_proxy();
  __syncthreads();
  const std::uint64_t a = wgmma::k_major(tiles + threadIdx.x / 128 * tile_a);
  const std::uint64_t b = wgmma::k_major(tiles + groups * tile_a);
  float d[128] = {};
  wgmma::hold(d);
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    wgmma::fence();
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      wgmma::m64n256k32(d, wgmma::advance(a, 32 * (k % 4)),
                        wgmma::advance(b, 32 * ((k + k / 4) % 4)), k > 0);
    }
    wgmma::commit();
    wgmma::wait<1>();
  }
  wgmma::wait<0>();
  wgmma::hold(d);
  for (const float x : d) folded += x;
  return groups * 8 * 64 * 256 * 32;
}

#else

__device__ int multiply(int n, float& folded) {
  constexpr int sums = 8;
  const auto word = [](unsigned i) {
    return random_code(4 * i) | random_code(4 * i + 1) << 8 | random_code(4 * i + 2) << 16 |
           static_cast<unsigned>(random_code(4 * i + 3)) << 24;
  };
  unsigned a[4], b[2][2];
  for (unsigned i = 0; i < 4; ++i) a[i] = word(8 * threadIdx.x + i);
  for (unsigned i = 0; i < 2; ++i) {
    b[0][i] = word(8 * threadIdx.x + 4 + i);
    b[1][i] = b[0][i] ^ 0x80808080U;  // negative
  }
  float d[sums][4] = {};
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
#pragma unroll
      for (int c = 0; c < sums; ++c) mma::m16n8k32(d[c], a, b[k % 2]);
    }
  }
  for (int c = 0; c < sums; ++c) folded += d[c][0] + d[c][1] + d[c][2] + d[c][3];
  return threads / 32 * 16 * sums * 16 * 8 * 32;
}

#endif

__global__ void __launch_bounds__(threads, 1) run_products(int n, int* products, float* sink) {
  float folded = 0;
  const int per_iteration = multiply(n, folded);
  if (blockIdx.x == 0 && threadIdx.x == 0) *products = per_iteration;
  if (folded == -12345.0F) *sink = folded;
}

double measure(const Device& device, Stream stream) {
  AMASIA_CUDA(cudaFuncSetAttribute(run_products, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   shared_bytes));
  const DeviceArray<int> products(1);
  const DeviceArray<float> sink(1);
  const OwnedEvent begin, end;
  int per_sm = 0;
  AMASIA_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, run_products, threads, shared_bytes));
  const auto blocks = static_cast<unsigned>(per_sm * device.sm_count);
  const auto run = [&] {
    run_products<<<blocks, threads, shared_bytes, stream>>>(iterations, products.data(),
                                                            sink.data());
  };
  run();  // warms up, and keeps the host's launch out of the interval
  AMASIA_CUDA(cudaEventRecord(begin, stream));
  run();
  AMASIA_CUDA(cudaEventRecord(end, stream));
  AMASIA_CUDA(cudaEventSynchronize(end));
  AMASIA_CUDA(cudaGetLastError());
  float ms = 0;
  AMASIA_CUDA(cudaEventElapsedTime(&ms, begin, end));
  int per_iteration = 0;
  products.download(&per_iteration);
  return 2.0 * per_iteration * blocks * iterations / ms * 1e-6;
}

const bool registered = register_ceiling(
    {"e4m3_rate", "GFLOP/s",
     "Tensor cores, random e4m3 into fp32: wgmma m64n256k32 from shared memory on sm_90a, else "
     "mma.sync m16n8k32 from registers",
     true, 89, measure});

}  // namespace
}  // namespace amasia::gemm
