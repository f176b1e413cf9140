// One block reads the same bytes over and over, from L1 or from shared memory.
#pragma once

#include <memory>

#include "microbench/memory/access.cuh"

namespace amasia::memory {

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
    const unsigned long long begin_ns = nanoseconds_now();
    const long long begin = clock_now();
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
    if (threadIdx.x == 0) {
      taken[w].cycles = clock_now() - begin;
      taken[w].nanoseconds = nanoseconds_now() - begin_ns;
    }
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
    AMASIA_CUDA(cudaGetLastError());
    AMASIA_CUDA(cudaStreamSynchronize(stream));
    Stamp host[max_walks];
    taken->download(host);
    Reading r = slope_between(host[1], few_rounds, host[2], many_rounds);
    r.value = working_set / *r.cycles;
    return r;
  };
}

}  // namespace amasia::memory
