// More of the bulk copy engine: flat stores, reductions into global memory, loads that arrive in
// several blocks of a cluster (PTX ISA: "cp.async.bulk", "cp.reduce.async.bulk"; sm_90).
#pragma once

#include <cstdint>

#include "variants/ptx/tma.cuh"

namespace amasia::tma {

/// Stores a flat run of bytes (multiple of 16, both addresses 16-byte aligned). The rules of
/// store_tile() hold.
__device__ inline void store_bytes(void* global, const void* shared, unsigned bytes) {
  AMASIA_SM90_ASM("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n" ::"l"(
                      __cvta_generic_to_global(global)),
                  "r"(shared_address(shared)), "r"(bytes)
                  : "memory");
}

/// Adds a run of 32-bit integers in shared memory to one in global memory, element by element and
/// atomically each. The rules of store_bytes() hold.
__device__ inline void add_bytes(unsigned* global, const unsigned* shared, unsigned bytes) {
  AMASIA_SM90_ASM("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;\n" ::
                      "l"(__cvta_generic_to_global(global)),
                  "r"(shared_address(shared)), "r"(bytes)
                  : "memory");
}

/// As load_tile(), into the same place of every block of the cluster whose bit is set in `blocks`; each
/// block's own `barrier` counts the whole box.
__device__ inline void load_tile_multicast(void* shared, const CUtensorMap* map, int column, int row,
                                           Barrier* barrier, std::uint16_t blocks) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

}  // namespace amasia::tma
