// tma: bulk (tensor) copies issued by one thread, counted in bytes by an mbarrier (PTX ISA:
// "cp.async.bulk.tensor", "mbarrier"; sm_90). Device side; tensor maps are made in tensor_map.hpp.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "variants/ptx/cp_async.cuh"
#include "variants/geometry/ring.hpp"

namespace amasia::tma {

using async::shared_address;
using Barrier = std::uint64_t;  // an mbarrier object, 8 bytes, 8-byte aligned, in shared memory

// Instructions of sm_90. A fat binary compiles its callers for older GPUs too, where the traits
// keep them from being launched; there the instruction is a trap. A macro, because an asm statement
// with its operands can be passed no other way.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define AMASIA_SM90_ASM(...) asm volatile(__VA_ARGS__)
#else
#define AMASIA_SM90_ASM(...) __trap()
#endif

/// One thread, before any use; `arrivals` = arrive operations per phase. Follow with fence_init()
/// and a block (or cluster) barrier.
__device__ inline void init(Barrier* barrier, unsigned arrivals) {
  AMASIA_SM90_ASM("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(shared_address(barrier)),
                  "r"(arrivals)
                  : "memory");
}

/// Makes the initialised barriers visible to the copy engine and to the cluster.
__device__ inline void fence_init() {
  AMASIA_SM90_ASM("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

/// Orders this thread's ordinary accesses to shared memory before copies by the engine that follow
/// (a bulk store that reads it, a bulk load that overwrites it).
__device__ inline void fence_async_proxy() {
  AMASIA_SM90_ASM("fence.proxy.async.shared::cta;\n" ::: "memory");
}

/// Arrives once and announces `bytes` that this phase still has to receive.
__device__ inline void expect(Barrier* barrier, unsigned bytes) {
  AMASIA_SM90_ASM(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

__device__ inline void arrive(Barrier* barrier) {
  AMASIA_SM90_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(shared_address(barrier))
                  : "memory");
}

/// Returns when the phase with this parity has completed; its data is visible to the calling
/// thread.
__device__ inline void wait(Barrier* barrier, unsigned parity) {
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

/// As expect(), arrive() and wait(), for a barrier whose shared address is at hand.
__device__ inline void expect_at(unsigned barrier, unsigned bytes) {
  AMASIA_SM90_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier),
                  "r"(bytes)
                  : "memory");
}
__device__ inline void arrive_at(unsigned barrier) {
  AMASIA_SM90_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}
__device__ inline void wait_at(unsigned barrier, unsigned parity) {
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// A 2-D box by tensor map; coordinates are in elements, column first, and may lie outside the grid
/// (filled with zero; the full box still counts in bytes). `shared` is 128-byte aligned. The column
/// has to be a multiple of 16 bytes: elsewhere an H200 raises an illegal instruction (measured).
__device__ inline void load_tile(void* shared, const CUtensorMap* map, int column, int row,
                                 Barrier* barrier) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
      : "memory");
}

/// A flat run of bytes (multiple of 16, both addresses 16-byte aligned).
__device__ inline void load_bytes(void* shared, const void* global, unsigned bytes,
                                  Barrier* barrier) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::
          "r"(shared_address(shared)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// Stores a box; elements outside the grid are dropped. Precede with fence_async_proxy() by every
/// thread that wrote the box and a barrier; follow with commit_stores().
__device__ inline void store_tile(const CUtensorMap* map, int column, int row, const void* shared) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n" ::"l"(map),
      "r"(column), "r"(row), "r"(shared_address(shared))
      : "memory");
}

__device__ inline void commit_stores() {
  AMASIA_SM90_ASM("cp.async.bulk.commit_group;\n" ::: "memory");
}

/// Waits until at most PENDING store groups of this thread still read their shared source.
template <int PENDING>
__device__ void wait_stores_read() {
  AMASIA_SM90_ASM("cp.async.bulk.wait_group.read %0;\n" ::"n"(PENDING) : "memory");
}

/// Waits until the stores themselves are complete (visible to later kernels either way).
template <int PENDING>
__device__ void wait_stores() {
  AMASIA_SM90_ASM("cp.async.bulk.wait_group %0;\n" ::"n"(PENDING) : "memory");
}

}  // namespace amasia::tma
