// Explicit loads from global memory, for copies through registers, and prefetches (PTX ISA:
// "ld.global", "prefetch"; any GPU).
#pragma once

namespace amasia::global {

/// 16 bytes, aligned to 16. Of an ordinary load by a pointer chosen at run time the compiler does
/// not know that it is global. And where a thread's next piece may have the address of the last
/// one, it copies the last one's registers, and so waits for them, before it loads.
__device__ __forceinline__ int4 load16(const void* from) {
  int4 v;
  asm volatile("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(from)));
  return v;
}

/// Brings the 128-byte line of an address into L2. Nobody waits for it.
__device__ __forceinline__ void prefetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];\n" ::"l"(__cvta_generic_to_global(address)));
}

}  // namespace amasia::global
