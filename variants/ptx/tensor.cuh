// Bulk copies of 2-D boxes of a grid by tensor map, issued by one thread (PTX ISA:
// "cp.async.bulk.tensor"; sm_90). Tensor maps are made in variants/device/tensor_map.hpp.
#pragma once

#include <cuda.h>

#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::tma {

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

/// Stores a box; elements outside the grid are dropped. Precede with fence_async_proxy() by every
/// thread that wrote the box and a barrier; follow with commit_stores().
__device__ inline void store_tile(const CUtensorMap* map, int column, int row, const void* shared) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];\n" ::"l"(map),
      "r"(column), "r"(row), "r"(shared_address(shared))
      : "memory");
}

}  // namespace amasia::tma
