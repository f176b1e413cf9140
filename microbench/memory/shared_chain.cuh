// A chain of addresses or indices in shared memory, walked by one thread, and its points.
#pragma once

#include "microbench/memory/chase.cuh"

namespace amasia::memory {

constexpr int shared_short_walk = 1024;
constexpr int words = 1024;  // a ring of 4 KiB: one thread meets no bank conflict

/// STORE: each link first stores the word it is about to load. INDEX: the ring holds indices.
template <bool STORE, bool INDEX>
__global__ void __launch_bounds__(32) chase_shared(Walks walks, Stamp* taken, std::uint32_t* end) {
  __shared__ std::uint32_t ring[words];
  const auto first = static_cast<std::uint32_t>(__cvta_generic_to_shared(ring));
#pragma unroll 1
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    // 129 is odd: a full cycle through the 1,024 words, from bank to bank. With stores each word
    // holds its own address: what is stored is what was there.
    const std::uint32_t next = STORE ? i : (i + 129) % words;
    ring[i] = INDEX ? next : first + 4 * next;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  std::uint32_t at = INDEX ? 0 : first;
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
#pragma unroll 1
    for (int i = 0; i < walks.links[w]; i += unroll) {
#pragma unroll
      for (int k = 0; k < unroll; ++k) {
        const std::uint32_t address = INDEX ? first + 4 * at : at;
        // The value must arrive before it can be stored, the store before the word can be loaded.
        // volatile: ptxas would hand the stored register on and drop the load.
        if constexpr (STORE) {
          asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(at) : "memory");
        }
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(at) : "r"(address) : "memory");
      }
    }
    watch.stop(taken[w]);
  }
  *end = at;
}

using SharedKernel = void (*)(Walks, Stamp*, std::uint32_t*);

inline Reading walk_shared(SharedKernel kernel, const DeviceArray<Stamp>& taken,
                           const DeviceArray<std::uint32_t>& end, Stream stream) {
  constexpr int longer = 65536;  // x 23 cycles: ~0.8 ms, a thousand ticks of %globaltimer
  const Walks walks{{shared_short_walk, shared_short_walk, longer}};
  kernel<<<1, 32, 0, stream>>>(walks, taken.data(), end.data());
  return slope_of_walks(stream, taken, walks);
}

inline Sampling shared_walk(SharedKernel kernel, SharedKernel less, Stream stream) {
  auto taken = std::make_shared<DeviceArray<Stamp>>(max_walks);
  auto end = std::make_shared<DeviceArray<std::uint32_t>>(1);
  return [=] {
    Reading r = walk_shared(kernel, *taken, *end, stream);
    if (less != nullptr) {
      const Reading without = walk_shared(less, *taken, *end, stream);
      r.value -= without.value;
      *r.cycles -= *without.cycles;
      *r.time_ns -= *without.time_ns;
    }
    return r;
  };
}

inline void add_shared(std::vector<Point>& points) {
  const auto add = [&](const char* access, const char* link, SharedKernel kernel,
                       SharedKernel less) {
    Point& p = add_point(
        points, {{"method", "chain"}, {"level", "shared"}, {"access", access}, {"link", link}},
        "latency", "cycles");
    p.kernels = {kernel_use(kernel, 32)};
    p.claims = {{"LDS", "ld.shared", unroll}};
    if (std::string(access) != "load") {  // and the store of the loop that fills the ring
      p.claims.push_back({"STS", "st.shared", unroll + 1});
    }
    p.prepare = [=](const Device&, Stream stream) { return shared_walk(kernel, less, stream); };
  };
  add("load", "pointer", chase_shared<false, false>, nullptr);
  add("load", "index", chase_shared<false, true>, nullptr);
  add("store_and_load", "pointer", chase_shared<true, false>, nullptr);
  add("store", "pointer", chase_shared<true, false>, chase_shared<false, false>);
}

}  // namespace amasia::memory
