// Prefetch into L2 (PTX ISA: "prefetch"; any GPU). Nobody waits for it.
#pragma once

namespace amasia::global {

/// The cache line that holds `at`.
__device__ __forceinline__ void prefetch_l2(const void* at) {
  asm volatile("prefetch.global.L2 [%0];\n" ::"l"(__cvta_generic_to_global(at)));
}

}  // namespace amasia::global
