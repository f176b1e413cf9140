// What the microbenchmarks share: clocks, several lengths of one loop in one launch, times by
// events, one buffer.
//
// A kernel that measures a latency or a rate of one SM runs its loop max_walks times in one launch,
// with the lengths in Walks, and takes a Stamp around each. So a cache, a TLB or a clock stays
// warm, and the slope over the lengths cancels fixed costs. A clock read around a single
// instruction is no measurement on Hopper.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "microbench/ceilings/timing.hpp"
#include "microbench/points.hpp"
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

/// The clocks around a walk.
class Stopwatch {
 public:
  __device__ Stopwatch() : begin_ns_(nanoseconds_now()), begin_(clock_now()) {}
  __device__ void stop(Stamp& taken) const {
    taken.cycles = clock_now() - begin_;
    taken.nanoseconds = nanoseconds_now() - begin_ns_;
  }

 private:
  unsigned long long begin_ns_;
  long long begin_;
};

/// A number in [0, 1), another one for each i.
AMASIA_HD inline float hashed(std::uint64_t i) {
  std::uint64_t h = (i + 1) * 0x9E3779B97F4A7C15ULL;
  h = (h ^ (h >> 31)) * 0xBF58476D1CE4E5B9ULL;
  return static_cast<float>(h >> 40) * 0x1p-24F;
}

/// 16 bytes past L1.
__device__ inline uint4 load_past_l1(const void* from) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(from));
  return v;
}

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
KernelUse kernel_use(Kernel kernel, int threads, std::size_t dynamic_shared_bytes = 0,
                     int cluster_blocks = 1, std::size_t bytes_in_flight_per_block = 0) {
  return {reinterpret_cast<const void*>(kernel), threads, dynamic_shared_bytes, cluster_blocks,
          bytes_in_flight_per_block};
}

template <class Kernel>
void prefer_l1(Kernel kernel) {
  AMASIA_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   cudaSharedmemCarveoutMaxL1));
}

/// A value in cycles, with the clock where the time shows one.
inline Reading in_cycles(double cycles, double time_ns) {
  Reading r{cycles, cycles, time_ns};
  if (time_ns > 0) r.clock_mhz = 1e3 * cycles / time_ns;
  return r;
}

/// Cycles and nanoseconds per link as the slope between two walks.
inline Reading slope_between(const Stamp& a, double links_a, const Stamp& b, double links_b) {
  const auto slope = [&](auto at_a, auto at_b) {
    return slope_of({{links_a, static_cast<double>(at_a)}, {links_b, static_cast<double>(at_b)}});
  };
  return in_cycles(slope(a.cycles, b.cycles), slope(a.nanoseconds, b.nanoseconds));
}

/// Waits for what was launched. Throws CudaError.
inline void finish(Stream stream) {
  AMASIA_CUDA(cudaGetLastError());
  AMASIA_CUDA(cudaStreamSynchronize(stream));
}

/// What a kernel left in device memory.
template <class T>
std::vector<T> downloaded(const DeviceArray<T>& array) {
  std::vector<T> host(array.size());
  array.download(host.data());
  return host;
}
template <class T>
T first_of(const DeviceArray<T>& array) {
  return downloaded(array).front();
}

/// Waits for a launch of `walks`: cycles and nanoseconds per link as the slope between its last two
/// walks. A step of a walk is `links` links.
inline Reading slope_of_walks(Stream stream, const DeviceArray<Stamp>& taken, const Walks& walks,
                              int links = 1) {
  finish(stream);
  const std::vector<Stamp> host = downloaded(taken);
  return slope_between(host[1], static_cast<double>(links) * walks.links[1], host[2],
                       static_cast<double>(links) * walks.links[2]);
}

/// What `enqueue(count)` makes a kernel count in `counter`, which is zero before.
template <class T, class Enqueue>
T counted(Stream stream, const DeviceArray<T>& counter, Enqueue enqueue) {
  AMASIA_CUDA(cudaMemsetAsync(counter.data(), 0, counter.bytes(), stream));
  enqueue(counter.data());
  finish(stream);
  return first_of(counter);
}

/// A time by events; in cycles, too, by the clock that one SM had meanwhile.
inline Reading timed(double time_ns, const Stamp& taken) {
  Reading r;
  r.time_ns = time_ns;
  r.clock_mhz = 1e3 * static_cast<double>(taken.cycles) / static_cast<double>(taken.nanoseconds);
  r.cycles = *r.time_ns * *r.clock_mhz * 1e-3;
  return r;
}

/// Time of one round: the slope between `few` and `many` rounds, each launched twice and timed by
/// events the second time. `enqueue(rounds)` launches; block 0 leaves the Stamp of its loop in
/// `taken`, of which that of the longer launch counts.
template <class Enqueue>
Reading time_of_round(Stream stream, const DeviceArray<Stamp>& taken, int few, int many,
                      Enqueue enqueue) {
  const double time_ns = ceilings::slope_ns(stream, few, many, enqueue);
  return timed(time_ns, first_of(taken));
}

/// The second of two launches, timed by events.
template <class Enqueue>
Reading time_of_launch(Stream stream, const DeviceArray<Stamp>& taken, Enqueue enqueue) {
  const double ms = ceilings::warm_milliseconds(stream, enqueue);
  return timed(1e6 * ms, first_of(taken));
}

/// A value with the time that it comes from.
inline Reading of_time(double time_ns, double value) { return {value, {}, time_ns}; }

/// f(std::integral_constant) with the one of these numbers, which are compiled, that `number` is.
template <int FIRST, int... OTHERS, class F>
auto with_constant(int number, F f) {
  if constexpr (sizeof...(OTHERS) > 0) {
    if (number != FIRST) return with_constant<OTHERS...>(number, f);
  }
  return f(std::integral_constant<int, FIRST>{});
}

}  // namespace amasia
