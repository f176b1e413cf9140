// Blocks whose warps have roles (sm_90a): one warpgroup, the producer, fills a ring of stages with
// slices and gives back the registers that it does not need; two, the consumers, take these
// registers and multiply. What gemm and the updates of lud have in common.
//
// A Producer has
//
// - registers: those a thread of the producing warpgroup keeps.
// - arrivals: per stage, that say it is full.
// - cluster, enter(), arrives(), arrive(empty), leave(): as in SharingBlocks.
#pragma once

#include <cstddef>

#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/registers.cuh"

namespace amasia::matrix {
namespace {

inline constexpr int warpgroup = 128, consuming_warpgroups = 2;
inline constexpr int role_threads = (1 + consuming_warpgroups) * warpgroup;

// What the launch bounds gave all three warpgroups is dealt out anew, in multiples of 8 a thread.
inline constexpr int all_registers =
    (1 + consuming_warpgroups) * registers::even_share(1 + consuming_warpgroups);

/// The registers of a consuming thread when one of the producing warpgroup keeps `producer`.
constexpr int consumer_registers(int producer) {
  return (all_registers - producer) / consuming_warpgroups / 8 * 8;
}
/// Those of a producing thread when a consuming one needs `consumer`.
constexpr int producer_registers(int consumer) {
  return (all_registers - consuming_warpgroups * consumer) / 8 * 8;
}

/// Stages of slices. A stage is `full` when its slice is there, and `empty` when all warps that
/// multiply it have read it, those of the cluster's other blocks included where it came for all.
template <int COUNT, int SLICE_BYTES>
struct SliceStages {
  static constexpr int count = COUNT;
  using State = PipelineState<count>;
  static constexpr std::size_t bytes =
      count * (std::size_t{SLICE_BYTES} + 2 * sizeof(tma::Barrier));

  unsigned char* slices;

  __device__ unsigned char* at(const State& s) const { return slices + s.index * SLICE_BYTES; }
  __device__ tma::Barrier* full(const State& s) const {
    return reinterpret_cast<tma::Barrier*>(slices + count * SLICE_BYTES) + s.index;
  }
  __device__ tma::Barrier* empty(const State& s) const { return full(s) + count; }
  __device__ void init(int arrivals, int reading_warps) const {
    for (State s; s.phase == 0; ++s) {
      tma::init(full(s), static_cast<unsigned>(arrivals));
      tma::init(empty(s), static_cast<unsigned>(reading_warps));
    }
    tma::fence_init();
  }
  /// The producer's: a ring's first round finds every stage empty.
  __device__ void acquire(const State& s) const { tma::wait(empty(s), s.phase ^ 1); }
  /// The consumers'.
  __device__ void wait(const State& s) const { tma::wait(full(s), s.phase); }
};

/// What the blocks of a cluster do who bring each other parts of their slices.
template <int CLUSTER>
struct SharingBlocks {
  static constexpr int cluster = CLUSTER;
  /// When the barriers are there, before anyone uses them.
  static __device__ void enter() { dsm::cluster_sync(); }
  /// When a consuming warp has read a stage, for which all blocks wait: the lanes that arrive.
  static __device__ bool arrives() { return threadIdx.x % 32 < cluster; }
  static __device__ void arrive(tma::Barrier* empty) {
    dsm::arrive_read(dsm::remote_address(empty, threadIdx.x % 32));
  }
  /// Before the block ends: not while its barriers are arrived at.
  static __device__ void leave() { dsm::cluster_sync(); }
};
/// A block alone.
template <>
struct SharingBlocks<1> {
  static constexpr int cluster = 1;
  static __device__ void enter() { __syncthreads(); }
  static __device__ bool arrives() { return threadIdx.x % 32 == 0; }
  static __device__ void arrive(tma::Barrier* empty) { tma::arrive(empty); }
  static __device__ void leave() {}
};
using ForOneBlock = SharingBlocks<1>;

/// By a consuming warp that has read a stage.
template <class Blocks>
__device__ __forceinline__ void release(tma::Barrier* empty) {
  __syncwarp();
  if (Blocks::arrives()) Blocks::arrive(empty);
}

/// What the calling thread has put into a stage is there. FENCE: for wgmma, which reads as the
/// engine does.
template <bool FENCE>
__device__ __forceinline__ void hand_over(tma::Barrier* full) {
  if (FENCE) tma::fence_async_proxy();
  __syncwarp();
  if (threadIdx.x % 32 == 0) tma::arrive(full);
}

/// The calling warpgroup's number: 0 produces. The same for all lanes of a warp, which the compiler
/// has to know.
__device__ __forceinline__ int role() {
  return __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / warpgroup, 0);
}
/// The registers that a consuming thread takes.
template <class Producer>
inline constexpr int of_consumer = [] {
  constexpr int count = consumer_registers(Producer::registers);
  static_assert(Producer::registers + consuming_warpgroups * count <= all_registers,
                "more than the block has: the consumers would wait for ever");
  return count;
}();

}  // namespace
}  // namespace amasia::matrix
