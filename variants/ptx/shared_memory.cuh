// Shared memory by its 32-bit addresses, which leave the 64-bit ones of global memory more
// registers (PTX ISA: "ld", "st", state space .shared).
#pragma once

#include "variants/ptx/registers.cuh"

namespace amasia::async {

/// The 32-bit address, in the block's shared window, of an object in shared memory.
__device__ inline unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

/// The 32-bit shared address of `p`, kept in a register. In a loop that lives on latency, the
/// compiler would rather work an address out anew, which costs a special-register read (~20 cycles)
/// on sm_90.
__device__ inline unsigned held_address(const void* p) { return opaque(shared_address(p)); }

/// Writes 16 bytes to a 32-bit shared address, a multiple of 16.
__device__ inline void store16(unsigned shared, int4 v) {
  asm volatile("st.shared.v4.s32 [%0], {%1, %2, %3, %4};\n" ::"r"(shared), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}

/// Reads 16 bytes from a 32-bit shared address.
__device__ inline int4 load16(unsigned shared) {
  int4 v;
  asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];\n"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(shared)
               : "memory");
  return v;
}

/// Reads 4 bytes. No `memory` clobber, so that FFMA keep their written order.
__device__ inline float load_float(unsigned shared) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];\n" : "=f"(v) : "r"(shared));
  return v;
}

__device__ inline void store_float(unsigned shared, float v) {
  asm volatile("st.shared.f32 [%0], %1;" : : "r"(shared), "f"(v) : "memory");
}

__device__ inline void store_float4(unsigned shared, float4 v) {
  asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(shared), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w)
               : "memory");
}

/// Reads 16 bytes. No `memory` clobber, so that FFMA keep their written
/// order.
__device__ inline float4 load_float4(unsigned shared) {
  float4 v;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];\n"
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
               : "r"(shared));
  return v;
}

}  // namespace amasia::async
