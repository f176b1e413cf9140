// cp.async, the mechanism of register_bypass, overlap and drop_off: global -> shared without a
// register (PTX ISA: "Data Movement: cp.async"; sm_80). Below sm_80 the same calls are plain
// copies, which the result rows name as the fallback they are.
#pragma once

#include "variants/ptx/shared_memory.cuh"

namespace amasia::async {

/// Copies BYTES (4, 8, 16) of which the first `valid` come from `global`, the rest is zero-filled.
/// 16-byte copies go past L1 (.cg): the data is wanted in shared memory, not twice in the SM.
template <int BYTES>
__device__ void copy(void* shared, const void* global, int valid = BYTES) {
#if __CUDA_ARCH__ >= 800
  if constexpr (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(shared)),
                 "l"(__cvta_generic_to_global(global)), "r"(valid)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;\n" ::"r"(shared_address(shared)),
                 "l"(__cvta_generic_to_global(global)), "n"(BYTES), "r"(valid)
                 : "memory");
  }
#else
  for (int w = 0; w < BYTES / 4; ++w) {
    static_cast<int*>(shared)[w] = 4 * w < valid ? static_cast<const int*>(global)[w] : 0;
  }
#endif
}

/// Where a copy to shared memory goes on its way: past L1, or through it, for data that several
/// warps of an SM copy for themselves.
enum class Cache { l2, l1_too };

/// Copies 16 bytes to a 32-bit shared address.
template <Cache CACHE = Cache::l2>
__device__ void copy16(unsigned shared, const void* global) {
#if __CUDA_ARCH__ >= 800
  if constexpr (CACHE == Cache::l2) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" ::"r"(shared),
                 "l"(__cvta_generic_to_global(global))
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;\n" ::"r"(shared),
                 "l"(__cvta_generic_to_global(global))
                 : "memory");
  }
#else
  *static_cast<int4*>(__cvta_shared_to_generic(shared)) = *static_cast<const int4*>(global);
#endif
}

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

/// Closes the group of copies this thread has issued since the last commit.
__device__ inline void commit() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;\n" ::: "memory");
#endif
}

/// Waits until at most PENDING of this thread's groups are unfinished. The data is then visible to
/// this thread only: a block barrier must follow before others read it.
template <int PENDING>
__device__ void wait() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group %0;\n" ::"n"(PENDING) : "memory");
#endif
}

}  // namespace amasia::async
