// How fast the tensor cores multiply dense bf16 and tf32 matrices into fp32.
//
// Method: operands that are already where the instruction reads them, random, in a full grid of
// blocks of eight warps. For sm_90a: wgmma m64n256, both operands in shared memory, two warpgroups
// per SM, eight multiplications of which the first forgets the sum before, so that sums stay
// bounded. Elsewhere from sm_80 on: mma.sync m16n8, fragments in registers, eight independent sums
// per warp, a matrix added and subtracted in turn. Random, because multiplying zeros takes less
// power, which the clock repays. One multiply-add is two operations. The launch lasts milliseconds,
// so that the power limit acts as it does on an application.

#include "harness/ceiling.hpp"
#include "microbench/ceilings/timing.hpp"
#include "variants/device/cuda.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mma.cuh"
#include "variants/ptx/wgmma.cuh"

namespace amasia::ceilings {
namespace {

enum class Type { bf16, tf32 };

constexpr int threads = 256;
constexpr int groups = threads / 128;
constexpr int iterations = 1500;
constexpr unsigned tile_a = 64 * 128, tile_b = 256 * 128;  // bytes: m and n rows of 128
constexpr unsigned shared_bytes = groups * tile_a + tile_b + 1024;

/// A number in [-1, 1), another one for each i; as f32, or rounded to bf16 in the upper half.
__device__ unsigned random_bits(unsigned i) {
  i = (i ^ i >> 16) * 0x7feb352dU;
  i = (i ^ i >> 15) * 0x846ca68bU;
  return __float_as_uint(static_cast<float>(static_cast<int>(i ^ i >> 16)) * 0x1p-31F);
}

/// A 32-bit word of random operands.
template <Type TYPE>
__device__ unsigned random_word(unsigned i) {
  if constexpr (TYPE == Type::tf32) return random_bits(i);
  return (random_bits(2 * i) >> 16) | (random_bits(2 * i + 1) & 0xFFFF0000U);
}

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Runs n iterations; returns the multiply-adds of the block in each.
template <Type TYPE>
__device__ int multiply(int n, float& folded) {
  extern __shared__ unsigned raw[];
  const unsigned padding = (1024 - async::shared_address(raw) % 1024) % 1024;
  unsigned* const tiles = raw + padding / 4;
  for (unsigned i = threadIdx.x; i < (shared_bytes - 1024) / 4; i += threads) {
    tiles[i] = random_word<TYPE>(i);
  }
  tma::fence_async_proxy();
  __syncthreads();
  const std::uint64_t a = wgmma::k_major(tiles + threadIdx.x / 128 * (tile_a / 4));
  const std::uint64_t b = wgmma::k_major(tiles + groups * tile_a / 4);
  float d[128] = {};
  wgmma::hold(d);
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    wgmma::fence();
#pragma unroll
    for (unsigned k = 0; k < 8; ++k) {
      const std::uint64_t a_k = wgmma::advance(a, 32 * (k % 4));
      const std::uint64_t b_k = wgmma::advance(b, 32 * ((k + k / 4) % 4));
      if constexpr (TYPE == Type::bf16) {
        wgmma::m64n256k16(d, a_k, b_k, k > 0);
      } else {
        wgmma::m64n256k8(d, a_k, b_k, k > 0);
      }
    }
    wgmma::commit();
    wgmma::wait<1>();
  }
  wgmma::wait<0>();
  wgmma::hold(d);
  for (const float x : d) folded += x;
  return groups * 8 * 64 * 256 * (TYPE == Type::bf16 ? 16 : 8);
}

#else

template <Type TYPE>
__device__ int multiply(int n, float& folded) {
  constexpr int sums = 8;
  unsigned a[4], b[2][2];
  for (unsigned i = 0; i < 4; ++i) a[i] = random_word<TYPE>(8 * threadIdx.x + i);
  for (unsigned i = 0; i < 2; ++i) {
    b[0][i] = random_word<TYPE>(8 * threadIdx.x + 4 + i);
    b[1][i] = b[0][i] ^ (TYPE == Type::bf16 ? 0x80008000U : 0x80000000U);  // negative
  }
  float d[sums][4] = {};
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
#pragma unroll
    for (int k = 0; k < 16; ++k) {
#pragma unroll
      for (int c = 0; c < sums; ++c) {
        if constexpr (TYPE == Type::bf16) {
          mma::m16n8k16(d[c], a, b[k % 2]);
        } else {
          mma::m16n8k8(d[c], a, b[k % 2]);
        }
      }
    }
  }
  for (int c = 0; c < sums; ++c) folded += d[c][0] + d[c][1] + d[c][2] + d[c][3];
  return threads / 32 * 16 * sums * 16 * 8 * (TYPE == Type::bf16 ? 16 : 8);
}

#endif

template <Type TYPE>
__global__ void __launch_bounds__(threads, 1) run_products(int n, int* products, float* sink) {
  float folded = 0;
  const int per_iteration = multiply<TYPE>(n, folded);
  if (blockIdx.x == 0 && threadIdx.x == 0) *products = per_iteration;
  if (folded == -12345.0F) *sink = folded;
}

template <Type TYPE>
double measure(const Device& device, Stream stream) {
  constexpr auto kernel = run_products<TYPE>;
  AMASIA_CUDA(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  const DeviceArray<int> products(1);
  const DeviceArray<float> sink(1);
  const unsigned blocks = full_grid(kernel, threads, device.sm_count, shared_bytes);
  const double ms = warm_milliseconds(stream, [&] {
    kernel<<<blocks, threads, shared_bytes, stream>>>(iterations, products.data(), sink.data());
  });
  int per_iteration = 0;
  products.download(&per_iteration);
  return 2.0 * per_iteration * blocks * iterations / ms * 1e-6;
}

const bool registered =
    register_ceiling({"bf16_rate", "GFLOP/s",
                      "Tensor cores, random bf16 into fp32: wgmma m64n256k16 from shared memory on "
                      "sm_90a, else mma.sync m16n8k16 from registers",
                      true, 80, measure<Type::bf16>}) &&
    register_ceiling({"tf32_rate", "GFLOP/s",
                      "Tensor cores, random tf32 into fp32: wgmma m64n256k8 from shared memory on "
                      "sm_90a, else mma.sync m16n8k8 from registers",
                      true, 80, measure<Type::tf32>});

}  // namespace
}  // namespace amasia::ceilings
