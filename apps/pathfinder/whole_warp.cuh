// Warps that the compiler, too, knows to be converged. Where it cannot prove that all lanes take
// the same branch, it compiles every later shuffle twice, for converged and for divergent lanes,
// with a test in front. That doubles the machine code and adds instructions between two rows of a
// tall grid, where each costs time.
#pragma once

#include "variants/ptx/guarded_asm.cuh"

namespace amasia::pathfinder {

inline constexpr unsigned all_lanes = 0xffffffffu;

/// The calling warp's number in its block. A choice by it is one of whole warps, which one by
/// threadIdx.x is not for the compiler.
__device__ inline int warp_of_block() {
  return __shfl_sync(all_lanes, static_cast<int>(threadIdx.x) / 32, 0);
}

/// tma::wait_at() for a whole warp, which leaves it together.
__device__ inline void wait_together(unsigned barrier, unsigned parity) {
  int done = 1;
  do {
    AMASIA_SM90_ASM(
        "{\n"
        ".reg .pred complete;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
        "selp.s32 %0, 1, 0, complete;\n"
        "}\n"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (!__all_sync(all_lanes, done));
}

}  // namespace amasia::pathfinder
