// A pointer chase: nodes in memory, each holding where the next one is, visited one at a time. The
// kernel walks several lengths in one launch, because an L1 is empty again in the next, and reads
// cycles and nanoseconds around each walk: the slope over the lengths is the latency.
#pragma once

#include "inputs/permutation.hpp"
#include "microbench/walks.cuh"

namespace amasia::memory {

/// The cache operator of the load: all levels, L2 only, "do not cache".
enum class Hint { ca, cg, cv };
inline const char* name_of(Hint hint) {
  return hint == Hint::ca ? "ca" : hint == Hint::cg ? "cg" : "cv";
}

/// What a node holds: the address of the next (one instruction per link), or its index, from which
/// the address is computed first (what `i = data[i]` compiles to).
enum class Link { pointer, index };
inline const char* name_of(Link link) { return link == Link::pointer ? "pointer" : "index"; }

template <Hint HINT>
__device__ std::uint64_t load(const std::uint64_t* p) {
  std::uint64_t value;
  if constexpr (HINT == Hint::ca) {
    asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  } else if constexpr (HINT == Hint::cg) {
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  } else {
    asm volatile("ld.global.cv.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  }
  return value;
}

constexpr int unroll = 32;  // links per iteration: the loop itself is ~3 of ~35 instructions

/// Thread l starts at *(at + l), where the last launch stopped, and leaves there where it stops.
template <Hint HINT, Link LINK>
__global__ void __launch_bounds__(32)
    chase(const std::uint64_t* base, std::uint64_t* at, Walks walks, Stamp* taken) {
  std::uint64_t node = at[threadIdx.x];
#pragma unroll 1
  for (int w = 0; w < max_walks; ++w) {
    const Stopwatch watch;
#pragma unroll 1
    for (int i = 0; i < walks.links[w]; i += unroll) {
#pragma unroll
      for (int k = 0; k < unroll; ++k) {
        if constexpr (LINK == Link::pointer) {
          node = load<HINT>(reinterpret_cast<const std::uint64_t*>(node));
        } else {
          node = load<HINT>(base + node);
        }
      }
    }
    // A clock may be read before the last load is back. That is so at the end of every walk: what
    // it misses there is part of the next walk, and cancels in the slope.
    if (threadIdx.x == 0) watch.stop(taken[w]);
  }
  at[threadIdx.x] = node;
}

/// Words of 8 bytes of each node that link on: one chain per thread of the chase.
constexpr int lanes = 4;

/// Lays out `count` nodes every `stride` bytes: in the order of the addresses, or scattered. Node
/// number k in the order of the visit is at position k, or scatter(k).
static __global__ void lay_out(std::uint64_t* base, std::uint64_t count, std::uint64_t stride,
                               bool random, bool pointers, int words, std::uint64_t key) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t k = blockIdx.x * std::uint64_t{blockDim.x} + threadIdx.x; k < count;
       k += step) {
    const std::uint64_t next = k + 1 == count ? 0 : k + 1;
    const std::uint64_t here = (random ? scatter(k, count, key) : k) * stride / 8;
    const std::uint64_t there = (random ? scatter(next, count, key) : next) * stride / 8;
    for (int w = 0; w < words; ++w) {
      base[here + w] = pointers ? reinterpret_cast<std::uint64_t>(base + there + w) : there + w;
    }
  }
}

/// What is walked.
struct Chain {
  std::size_t footprint = 0;  // bytes
  std::size_t stride = 128;   // of the nodes
  bool random = true;
  Link link = Link::pointer;
  Hint hint = Hint::ca;
  int threads = 1;    // neighbours that walk side by side, up to `lanes`
  int carve_out = 0;  // preferred share of shared memory, percent of its largest size
};

using ChaseKernel = void (*)(const std::uint64_t*, std::uint64_t*, Walks, Stamp*);

inline ChaseKernel kernel_of(Hint hint, Link link) {
  constexpr ChaseKernel kernels[][3] = {
      {chase<Hint::ca, Link::pointer>, chase<Hint::cg, Link::pointer>,
       chase<Hint::cv, Link::pointer>},
      {chase<Hint::ca, Link::index>, chase<Hint::cg, Link::index>, chase<Hint::cv, Link::index>}};
  return kernels[static_cast<int>(link)][static_cast<int>(hint)];
}

/// A chain in device memory and where the walk stands.
class Chase {
 public:
  Chase(const Chain& chain, Stream stream)
      : chain_(chain),
        stream_(stream),
        kernel_(kernel_of(chain.hint, chain.link)),
        base_(buffer_of(chain.footprint)),
        at_(lanes),
        taken_(max_walks) {
    AMASIA_CUDA(cudaFuncSetAttribute(kernel_, cudaFuncAttributePreferredSharedMemoryCarveout,
                                     chain.carve_out));
    restart();
  }

  std::uint64_t nodes() const { return chain_.footprint / chain_.stride; }

  /// Lays the chain out anew, written by all SMs, and stands at its first node.
  void restart() {
    const bool pointers = chain_.link == Link::pointer;
    const int words = static_cast<int>(std::min<std::size_t>(lanes, chain_.stride / 8));
    lay_out<<<1024, 256, 0, stream_>>>(base_, nodes(), chain_.stride, chain_.random, pointers,
                                       words, key);
    finish(stream_);
    std::uint64_t start[lanes];
    for (int l = 0; l < lanes; ++l) start[l] = after(0, l);
    at_.upload(start);
  }

  /// What thread `lane` holds when so many links have been walked since the start.
  std::uint64_t after(std::uint64_t links, int lane = 0) const {
    const std::uint64_t k = links % nodes();
    const std::uint64_t word = (chain_.random ? scatter(k, nodes(), key) : k) * chain_.stride / 8 +
                               static_cast<unsigned>(lane);
    return chain_.link == Link::pointer ? reinterpret_cast<std::uint64_t>(base_ + word) : word;
  }

  /// What the first thread holds now.
  std::uint64_t standing() const { return first_of(at_); }

  /// Walks on; links per walk are rounded up to a multiple of `unroll`.
  std::vector<Stamp> walk(const std::vector<std::uint64_t>& links) {
    Walks walks{};
    for (std::size_t w = 0; w < links.size(); ++w) {
      if (links[w] > (1U << 30)) throw std::runtime_error("a walk of more than 2^30 links");
      walks.links[w] = static_cast<int>((links[w] + unroll - 1) / unroll * unroll);
    }
    kernel_<<<1, chain_.threads, 0, stream_>>>(base_, at_.data(), walks, taken_.data());
    finish(stream_);
    return downloaded(taken_);
  }

 private:
  static constexpr std::uint64_t key = 20211;

  Chain chain_;
  Stream stream_;
  ChaseKernel kernel_;
  std::uint64_t* base_;
  DeviceArray<std::uint64_t> at_;
  DeviceArray<Stamp> taken_;
};

inline KernelUse use_of(Hint hint, Link link) { return kernel_use(kernel_of(hint, link), 32); }

}  // namespace amasia::memory
