// The arrive/wait barrier as cp.async uses it (PTX ISA: "mbarrier", "cp.async.mbarrier.arrive";
// sm_80): a thread arrives when its copies have arrived, and nobody waits in between.
#pragma once

#include <cstdint>

#include "variants/ptx/guarded_asm.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::async_copy {

using Barrier = std::uint64_t;  // an mbarrier object in shared memory

// A binary for older GPUs compiles the callers too, where runs_from keeps them from being launched.
// A macro, because an asm statement with its operands can be passed no other way.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define AMASIA_SM80_ASM(...) asm volatile(__VA_ARGS__)
#else
#define AMASIA_SM80_ASM(...) __trap()
#endif

/// One thread, before any use; a block barrier follows.
__device__ inline void init(Barrier* barrier, unsigned arrivals) {
  AMASIA_SM80_ASM("mbarrier.init.shared.b64 [%0], %1;\n" ::"r"(async::shared_address(barrier)),
                  "r"(arrivals)
                  : "memory");
}

/// Arrives once when all copies that this thread has started so far are in shared memory. One of
/// the arrivals that init() counted (noinc).
__device__ inline void arrive_with_copies(Barrier* barrier) {
  AMASIA_SM80_ASM(
      "cp.async.mbarrier.arrive.noinc.shared.b64 [%0];\n" ::"r"(async::shared_address(barrier))
      : "memory");
}

__device__ inline void arrive(Barrier* barrier) {
  AMASIA_SM80_ASM(
      "{\n"
      ".reg .b64 state;\n"
      "mbarrier.arrive.shared.b64 state, [%0];\n"
      "}\n" ::"r"(async::shared_address(barrier))
      : "memory");
}

/// Returns when the phase with this parity has completed; its data is visible to the caller.
__device__ inline void wait(Barrier* barrier, unsigned parity) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(async::shared_address(barrier)),
      "r"(parity)
      : "memory");
#else
  AMASIA_SM80_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.test_wait.parity.shared.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(async::shared_address(barrier)),
      "r"(parity)
      : "memory");
#endif
}

}  // namespace amasia::async_copy
