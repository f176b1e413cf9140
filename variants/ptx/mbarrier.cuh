// mbarrier: an object in shared memory that counts arrivals and bytes, phase by phase (PTX ISA:
// "mbarrier"; sm_90). Those of other blocks of a cluster: cluster.cuh.
#pragma once

#include <cstdint>

#include "variants/ptx/guarded_asm.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::tma {

using async::shared_address;
using Barrier = std::uint64_t;  // an mbarrier object, 8 bytes, 8-byte aligned, in shared memory

/// One thread, before any use; `arrivals` = arrive operations per phase. Follow with fence_init()
/// and a block (or cluster) barrier.
__device__ inline void init(Barrier* barrier, unsigned arrivals) {
  AMASIA_SM90_ASM("mbarrier.init.shared::cta.b64 [%0], %1;\n" ::"r"(shared_address(barrier)),
                  "r"(arrivals)
                  : "memory");
}

/// As init(), for a barrier that was initialised before and that nobody uses any more.
__device__ inline void init_again(Barrier* barrier, unsigned arrivals) {
  AMASIA_SM90_ASM("mbarrier.inval.shared::cta.b64 [%0];\n" ::"r"(shared_address(barrier))
                  : "memory");
  init(barrier, arrivals);
}

/// Makes the initialised barriers visible to the copy engine and to the cluster.
__device__ inline void fence_init() {
  AMASIA_SM90_ASM("fence.mbarrier_init.release.cluster;\n" ::: "memory");
}

/// Arrives once and announces `bytes` that this phase still has to receive. Here and below, _at:
/// for a barrier whose shared address is at hand.
__device__ inline void expect_at(unsigned barrier, unsigned bytes) {
  AMASIA_SM90_ASM("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n" ::"r"(barrier),
                  "r"(bytes)
                  : "memory");
}
__device__ inline void expect(Barrier* barrier, unsigned bytes) {
  expect_at(shared_address(barrier), bytes);
}

__device__ inline void arrive_at(unsigned barrier) {
  AMASIA_SM90_ASM("mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(barrier) : "memory");
}
__device__ inline void arrive(Barrier* barrier) { arrive_at(shared_address(barrier)); }

/// Returns when the phase with this parity has completed; its data is visible to the calling
/// thread.
__device__ inline void wait_at(unsigned barrier, unsigned parity) {
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ inline void wait(Barrier* barrier, unsigned parity) {
  wait_at(shared_address(barrier), parity);
}

/// As wait(), called by all lanes of a warp together, with the same arguments; all leave the loop
/// at once, by vote. Lanes may leave an ordinary wait loop one by one. The compiler then no longer
/// knows that the warp is converged, and adds to every later shuffle a test and a second,
/// lane-by-lane version.
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

/// Has the phase with this parity completed? As wait_at(), without waiting.
__device__ inline int completed_at(unsigned barrier, unsigned parity) {
  int done = 1;
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred done;\n"
      "mbarrier.test_wait.parity.shared::cta.b64 done, [%1], %2;\n"
      "selp.s32 %0, 1, 0, done;\n"
      "}\n"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done;
}

}  // namespace amasia::tma
