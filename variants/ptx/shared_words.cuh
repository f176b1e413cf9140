// Single words of shared memory by their 32-bit addresses (PTX ISA: "ld", "st", state space
// .shared); 16 bytes at a time: shared_memory.cuh.
#pragma once

namespace amasia::async {

/// Reads 4 bytes. No `memory` clobber, so that FFMA keep their written order.
__device__ inline float load_float(unsigned shared) {
  float v;
  asm volatile("ld.shared.f32 %0, [%1];\n" : "=f"(v) : "r"(shared));
  return v;
}

__device__ inline void store_float(unsigned shared, float v) {
  asm volatile("st.shared.f32 [%0], %1;" : : "r"(shared), "f"(v) : "memory");
}

}  // namespace amasia::async
