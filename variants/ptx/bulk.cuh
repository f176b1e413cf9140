// Bulk copies by one thread: runs of bytes, and 2-D boxes by a tensor map (device/tensor_map.hpp).
// An mbarrier counts the bytes of loads; stores and reductions go in groups (PTX ISA:
// "cp.async.bulk", ".tensor", "cp.reduce.async.bulk"; sm_90). Into several blocks: cluster.cuh.
#pragma once

#include <cuda.h>

#include "variants/ptx/mbarrier.cuh"

namespace amasia::tma {

/// Orders this thread's ordinary accesses to shared memory before copies by the engine that follow
/// (a bulk store that reads it, a bulk load that overwrites it).
__device__ inline void fence_async_proxy() {
  AMASIA_SM90_ASM("fence.proxy.async.shared::cta;\n" ::: "memory");
}

/// Loads a flat run of bytes (multiple of 16, both addresses 16-byte aligned).
__device__ inline void load_bytes(void* shared, const void* global, unsigned bytes,
                                  Barrier* barrier) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::
          "r"(shared_address(shared)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// Loads a 2-D box by tensor map; coordinates are in elements, column first, and may lie outside
/// the grid (filled with zero; the full box still counts in bytes). `shared` is 128-byte aligned.
/// The column has to be a multiple of 16 bytes: elsewhere an H200 raises an illegal instruction
/// (measured).
__device__ inline void load_tile(void* shared, const CUtensorMap* map, int column, int row,
                                 Barrier* barrier) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
      : "memory");
}

/// Brings a run of bytes (multiple of 16, 16-byte aligned) into L2. Nobody waits for it.
__device__ inline void prefetch_bytes(const void* global, unsigned bytes) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.prefetch.L2.global [%0], %1;\n" ::"l"(__cvta_generic_to_global(global)),
      "r"(bytes)
      : "memory");
}

/// Stores a flat run of bytes (multiple of 16, both addresses 16-byte aligned). Precede with
/// fence_async_proxy() by every thread that wrote them and a barrier; follow with commit_stores().
__device__ inline void store_bytes(void* global, const void* shared, unsigned bytes) {
  AMASIA_SM90_ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n" ::"l"(
                      __cvta_generic_to_global(global)),
                  "r"(shared_address(shared)), "r"(bytes)
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

/// Adds a run of 32-bit integers in shared memory to one in global memory, element by element and
/// atomically each. The rules of store_bytes() hold.
__device__ inline void add_bytes(unsigned* global, const unsigned* shared, unsigned bytes) {
  AMASIA_SM90_ASM(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;\n" ::"l"(
          __cvta_generic_to_global(global)),
      "r"(shared_address(shared)), "r"(bytes)
      : "memory");
}

/// Closes the group of stores this thread has issued since the last commit.
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
