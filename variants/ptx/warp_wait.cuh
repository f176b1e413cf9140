// Waits of a whole warp at an mbarrier (mbarrier.cuh, cluster.cuh).
//
// Lanes may leave an ordinary wait loop one by one. The compiler then no longer knows that the warp
// is converged, and adds to every later shuffle a test and a second, lane-by-lane version. Here all
// 32 lanes leave the loop at once, by vote.
#pragma once

#include "variants/ptx/mbarrier.cuh"

namespace amasia::tma {

/// As wait(), called by all lanes of a warp together, with the same arguments.
__device__ inline void warp_wait(Barrier* barrier, unsigned parity) {
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "vote.sync.all.pred done, done, 0xffffffff;\n"
      "@!done bra.uni again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

/// As dsm::wait_cluster(), likewise: what other blocks of the cluster wrote is visible, too.
__device__ inline void warp_wait_cluster(Barrier* barrier, unsigned parity) {
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "vote.sync.all.pred done, done, 0xffffffff;\n"
      "@!done bra.uni again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

}  // namespace amasia::tma
