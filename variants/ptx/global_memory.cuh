// Loads from global memory that are written out, for copies through registers (PTX ISA:
// "ld.global"; any GPU).
#pragma once

namespace amasia::global {

/// 16 bytes, aligned to 16. Of a pointer that is chosen at run time the compiler forgets that it is
/// a global one; and where a thread's next piece may lie where the last one does, it copies the
/// last one's registers, and so waits for them, before it loads.
__device__ __forceinline__ int4 load16(const void* from) {
  int4 v;
  asm volatile("ld.global.v4.s32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(__cvta_generic_to_global(from)));
  return v;
}

}  // namespace amasia::global
