// cp.async under a condition, without a branch (PTX ISA: "cp.async"; sm_80).
#pragma once

#include "variants/ptx/cp_async.cuh"

namespace amasia::async {

/// Copies 16 bytes to a 32-bit shared address if `condition` is not 0; `valid` of them come from
/// `global`, the rest is zero.
__device__ inline void copy16_if(int condition, unsigned shared, const void* global, int valid) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "{\n"
      ".reg .pred wanted;\n"
      "setp.ne.s32 wanted, %0, 0;\n"
      "@wanted cp.async.cg.shared.global [%1], [%2], 16, %3;\n"
      "}\n" ::"r"(condition),
      "r"(shared), "l"(__cvta_generic_to_global(global)), "r"(valid)
      : "memory");
#else
  if (condition == 0) return;
  *static_cast<int4*>(__cvta_shared_to_generic(shared)) =
      valid > 0 ? *static_cast<const int4*>(global) : int4{};
#endif
}

}  // namespace amasia::async
