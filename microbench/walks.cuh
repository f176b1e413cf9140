// What the microbenchmarks share: clocks, several lengths of one loop in one launch, one buffer.
//
// A kernel that measures a latency or a rate of one SM runs its loop max_walks times in one launch,
// with the lengths in Walks, and takes a Stamp around each. So a cache, a TLB or a clock stays
// warm, and the slope over the lengths cancels fixed costs. A clock read around a single
// instruction is no measurement on Hopper.
#pragma once

#include <cstdint>

#include "harness/microbenchmark.hpp"
#include "microbench/curve.hpp"
#include "variants/device/cuda.hpp"

namespace amasia {

__device__ inline long long clock_now() {
  long long t;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
  return t;
}

__device__ inline unsigned long long nanoseconds_now() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
  return t;
}

constexpr int max_walks = 3;

/// Steps of the walks of one launch, in the unit of the kernel; 0: not walked.
struct Walks {
  int links[max_walks];
};

struct Stamp {
  long long cycles;
  unsigned long long nanoseconds;
};

/// The one buffer of the process, grown when a point needs more: freed memory is cleared in the
/// background and would disturb who measures next.
inline std::uint64_t* buffer_of(std::size_t bytes) {
  static DeviceBytes buffer;
  if (buffer.bytes() < bytes) {
    buffer = DeviceBytes();
    buffer = DeviceBytes(bytes);
  }
  return static_cast<std::uint64_t*>(buffer.data());
}

template <class Kernel>
void prefer_l1(Kernel kernel) {
  AMASIA_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxL1));
}

/// Cycles and nanoseconds per link as the slope between two walks.
inline Reading slope_between(const Stamp& a, double links_a, const Stamp& b, double links_b) {
  Reading r;
  r.cycles = slope_of(
      {{links_a, static_cast<double>(a.cycles)}, {links_b, static_cast<double>(b.cycles)}});
  r.time_ns = slope_of({{links_a, static_cast<double>(a.nanoseconds)},
                        {links_b, static_cast<double>(b.nanoseconds)}});
  if (*r.time_ns > 0) r.clock_mhz = 1e3 * *r.cycles / *r.time_ns;
  r.value = *r.cycles;
  return r;
}

}  // namespace amasia
