// Chains of accesses to the shared memory of another block of the cluster: one reader and one
// distance, and every pair of a cluster in turn.
#pragma once

#include "microbench/dsm/cluster.cuh"

namespace amasia::dsm {

constexpr unsigned words = 1024;
constexpr int unroll = 32;  // links per iteration: the loop itself is ~3 of ~35 instructions
constexpr int shorter = 1024, longer = 16384;

enum class Access { load, load_add_store, atomic_add };
constexpr const char* name_of(Access a) {
  return a == Access::load ? "load" : a == Access::load_add_store ? "load_add_store" : "atomic_add";
}

/// One link. `at` is the address of the next load, or the value that the last access left.
template <Access ACCESS>
__device__ unsigned follow(unsigned at, unsigned word) {
  unsigned value = 0;
  if constexpr (ACCESS == Access::load) {
    AMASIA_SM90_ASM("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  } else if constexpr (ACCESS == Access::load_add_store) {
    // Relaxed, not weak: a weak load could be given the register that was stored just before.
    AMASIA_SM90_ASM("ld.relaxed.cluster.shared::cluster.u32 %0, [%1];"
                    : "=r"(value)
                    : "r"(word)
                    : "memory");
    value += 1 + (at >> 31);  // + 1: the value that went before is needed, and stays below 2^31
    AMASIA_SM90_ASM("st.relaxed.cluster.shared::cluster.u32 [%0], %1;" ::"r"(word), "r"(value)
                    : "memory");
  } else {
    // The address needs the value that went before; were it the same for the warp, ptxas would add
    // up what the warp's threads add.
    AMASIA_SM90_ASM("atom.relaxed.cluster.shared::cluster.add.u32 %0, [%1], 1;"
                    : "=r"(value)
                    : "r"(word + (at >> 31))
                    : "memory");
  }
  return value;
}

template <Access ACCESS>
__device__ unsigned walk(unsigned at, unsigned word, int links) {
#pragma unroll 1
  for (int i = 0; i < links; i += unroll) {
#pragma unroll
    for (int k = 0; k < unroll; ++k) at = follow<ACCESS>(at, word);
  }
  return at;
}

/// A full cycle of addresses in the cluster's window: 129 is odd.
__device__ inline void lay_out(unsigned* ring) {
  const unsigned first = remote_address(ring, rank());
#pragma unroll 1
  for (unsigned i = threadIdx.x; i < words; i += 32) ring[i] = first + 4 * ((i + 129) % words);
}

template <Access ACCESS>
__global__ void __launch_bounds__(32)
    reach(unsigned distance, Walks walks, Stamp* taken, unsigned* left) {
  __shared__ unsigned ring[words];
  if constexpr (ACCESS == Access::load) {
    lay_out(ring);
  } else {
    if (threadIdx.x == 0) ring[0] = 0;
  }
  cluster_sync();
  if (rank() == 0 && threadIdx.x == 0) {
    const unsigned word = remote_address(ring, distance);
    unsigned at = ACCESS == Access::load ? word : 0;
#pragma unroll 1
    for (int w = 0; w < max_walks; ++w) {
      const unsigned long long begin_ns = nanoseconds_now();
      const long long begin = clock_now();
      at = walk<ACCESS>(at, word, walks.links[w]);
      taken[w].cycles = clock_now() - begin;
      taken[w].nanoseconds = nanoseconds_now() - begin_ns;
    }
    *left = at;
  }
  __syncwarp();
  cluster_sync();
  // What the accesses left behind; the chain's own end is of no interest but keeps its loads.
  if (ACCESS != Access::load && rank() == distance && threadIdx.x == 0) *left = ring[0];
}

constexpr int pair_cluster = 16;  // the largest: the most pairs
constexpr int pair_shorter = 64, pair_longer = 320;

/// cycles[block * pair_cluster + peer], of the links by which the walks differ; 0: itself.
template <int CLUSTER>
__global__ void __launch_bounds__(32) reach_all(unsigned* cycles, unsigned* sm, unsigned* sink) {
  __shared__ unsigned ring[words];
  lay_out(ring);
  if (threadIdx.x == 0) {
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm[blockIdx.x]));
    cycles[blockIdx.x * CLUSTER + rank()] = 0;
  }
  unsigned at = 0;
#pragma unroll 1
  for (unsigned step = 0; step < CLUSTER * CLUSTER; ++step) {
    const unsigned reader = step / CLUSTER, peer = step % CLUSTER;
    cluster_sync();
    if (reader != peer && rank() == reader && threadIdx.x == 0) {
      unsigned took[3];
      at = remote_address(ring, peer);
#pragma unroll 1
      for (int w = 0; w < 3; ++w) {
        const long long begin = clock_now();
        at = walk<Access::load>(at, 0, w == 2 ? pair_longer : pair_shorter);
        took[w] = static_cast<unsigned>(clock_now() - begin);
      }
      cycles[blockIdx.x * CLUSTER + peer] = took[2] - took[1];
    }
    __syncwarp();
  }
  cluster_sync();
  if (at == 1) *sink = at;  // never: addresses are even
}

}  // namespace amasia::dsm
