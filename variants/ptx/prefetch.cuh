// Bringing data closer without asking for it yet (PTX ISA: "cp.async.bulk.prefetch"; sm_90).
#pragma once

#include "variants/ptx/tma.cuh"

namespace amasia::tma {

/// Brings a run of bytes (multiple of 16, 16-byte aligned) into L2. Nobody waits for it.
__device__ inline void prefetch_bytes(const void* global, unsigned bytes) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.prefetch.L2.global [%0], %1;\n" ::"l"(__cvta_generic_to_global(global)),
      "r"(bytes)
      : "memory");
}

}  // namespace amasia::tma
