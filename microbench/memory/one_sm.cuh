// One load of memory/bandwidth, by level and width, and what is done with the value. One block
// reads the same bytes over and over, from L1 or from shared memory.
#pragma once

#include <type_traits>

#include "microbench/walks.cuh"

namespace amasia::memory {

enum class Space { l1, shared, l2 };
enum class Fold { bits, add };

struct Fp32 {
  using Value = float;
  static constexpr const char* name = "fp32";
  static constexpr int bytes = 4;
};
struct Fp64 {
  using Value = double;
  static constexpr const char* name = "fp64";
  static constexpr int bytes = 8;
};
struct Fp32x4 {
  using Value = float4;
  static constexpr const char* name = "fp32.v4";
  static constexpr int bytes = 16;
};

/// read<SPACE>(v, p, s): a load of `WIDTH` from the global address p or the shared address s. A
/// macro, because an asm statement needs literals.
#define AMASIA_READ(TYPE, WIDTH, TO, FROM, ...)                                                \
  template <Space SPACE>                                                                       \
  __device__ void read(TYPE& v, const void* p, unsigned s) {                                   \
    if constexpr (SPACE == Space::l1) {                                                        \
      asm volatile("ld.global.ca." WIDTH " " TO ", [" FROM "];" : __VA_ARGS__ : "l"(p));       \
    } else if constexpr (SPACE == Space::l2) {                                                 \
      asm volatile("ld.global.cg." WIDTH " " TO ", [" FROM "];" : __VA_ARGS__ : "l"(p));       \
    } else {                                                                                   \
      asm volatile("ld.volatile.shared." WIDTH " " TO ", [" FROM "];" : __VA_ARGS__ : "r"(s)); \
    }                                                                                          \
  }
AMASIA_READ(float, "f32", "%0", "%1", "=f"(v))
AMASIA_READ(double, "f64", "%0", "%1", "=d"(v))
AMASIA_READ(float4, "v4.f32", "{%0, %1, %2, %3}", "%4", "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w))

/// What was read, folded into bits at one instruction per word or two: never what limits.
__device__ inline unsigned bits_of(float v) { return __float_as_uint(v); }
__device__ inline unsigned bits_of(double v) {
  return static_cast<unsigned>(__double2loint(v) ^ __double2hiint(v));
}
__device__ inline unsigned bits_of(const float4& v) {
  return bits_of(v.x) ^ bits_of(v.y) ^ bits_of(v.z) ^ bits_of(v.w);
}

__device__ inline void add(float& sum, float v) { sum += v; }
__device__ inline void add(double& sum, double v) { sum += v; }
__device__ inline void add(float& sum, const float4& v) { sum += (v.x + v.y) + (v.z + v.w); }
template <class Value>
using Sum = std::conditional_t<std::is_same_v<Value, double>, double, float>;

constexpr int block_threads = 1024;    // what seed 000 uses: the most a block can have
constexpr int working_set = 64 << 10;  // bytes: in L1 with room to spare, and in shared memory
constexpr int few_rounds = 64;
constexpr int many_rounds = 512;

/// Loads of one thread per round.
template <class Access>
constexpr int loads() {
  return working_set / (block_threads * Access::bytes);
}

template <class Access, Space SPACE, Fold FOLD>
__global__ void __launch_bounds__(block_threads)
    read_one_sm(const std::byte* data, int step, Walks rounds, Stamp* taken, float* sink) {
  using Value = typename Access::Value;
  extern __shared__ std::byte held[];
  if constexpr (SPACE == Space::shared) {
#pragma unroll 1
    for (int i = threadIdx.x; i < working_set / 4; i += block_threads) {
      reinterpret_cast<int*>(held)[i] = 0;
    }
  }
  // `step` is 0, which the compiler does not know: the address changes, so no load can be hoisted
  // out of the loop (an asm volatile keeps nvcc from it, not ptxas).
  const std::byte* mine = data + threadIdx.x * Access::bytes;
  unsigned shared = static_cast<unsigned>(__cvta_generic_to_shared(held)) +
                    static_cast<unsigned>(threadIdx.x * Access::bytes);
  Sum<Value> sum[4] = {};
  unsigned folded = 0;
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    __syncthreads();
    const Stopwatch watch;
#pragma unroll 1
    for (int r = 0; r < rounds.links[w]; ++r) {
      Value v[loads<Access>()];
#pragma unroll
      for (int k = 0; k < loads<Access>(); ++k) {
        const int offset = k * block_threads * Access::bytes;
        read<SPACE>(v[k], mine + offset, shared + static_cast<unsigned>(offset));
      }
      if constexpr (FOLD == Fold::add) {
#pragma unroll
        for (int k = 0; k < loads<Access>(); ++k) add(sum[k % 4], v[k]);
      } else {
#pragma unroll
        for (int k = 0; k < loads<Access>(); ++k) folded ^= bits_of(v[k]);
      }
      mine += step;
      shared += static_cast<unsigned>(step);
    }
    __syncthreads();
    if (threadIdx.x == 0) watch.stop(taken[w]);
  }
  const auto total = static_cast<float>((sum[0] + sum[1]) + (sum[2] + sum[3]));
  // The memory holds zeros, which the compiler does not know.
  if (total == -12345.0F || folded == 12345) *sink = total;
}

template <class Access, Space SPACE, Fold FOLD>
Sampling one_sm(Stream stream) {
  constexpr auto kernel = read_one_sm<Access, SPACE, FOLD>;
  constexpr int dynamic = SPACE == Space::shared ? working_set : 0;
  if constexpr (SPACE == Space::shared) {
    AMASIA_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic));
  } else {
    prefer_l1(kernel);
  }
  auto data = std::make_shared<DeviceBytes>(working_set);
  AMASIA_CUDA(cudaMemsetAsync(data->data(), 0, working_set, stream));
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto sink = std::make_shared<DeviceArray<float>>(1);
  return [=] {
    const Walks rounds{{8, few_rounds, many_rounds}};
    kernel<<<1, block_threads, dynamic, stream>>>(static_cast<const std::byte*>(data->data()), 0,
                                                  rounds, taken->data(), sink->data());
    Reading r = slope_of_walks(stream, *taken, rounds);
    r.value = working_set / *r.cycles;
    return r;
  };
}

}  // namespace amasia::memory
