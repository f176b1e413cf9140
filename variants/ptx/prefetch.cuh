// Prefetches into L2 that nobody waits for (PTX ISA: "prefetch"; any GPU).
#pragma once

namespace amasia::global {

/// Brings the 128-byte line of an address of global memory into L2.
__device__ __forceinline__ void prefetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];\n" ::"l"(__cvta_generic_to_global(address)));
}

}  // namespace amasia::global
