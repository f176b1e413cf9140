// Words for other blocks of a cluster that nothing but their value orders (PTX ISA: "st" with
// .relaxed.cluster, "fence"; sm_90).
#pragma once

#include "variants/ptx/cluster.cuh"

namespace amasia::dsm {

/// A word that the other block polls for.
__device__ inline void store_relaxed(unsigned remote, int value) {
  AMASIA_SM90_ASM("st.relaxed.cluster.shared::cluster.s32 [%0], %1;\n" ::"r"(remote), "r"(value)
                  : "memory");
}
/// Four of them, each for itself; the address is a multiple of 16.
__device__ inline void store_relaxed(unsigned remote, int4 value) {
  AMASIA_SM90_ASM(
      "st.relaxed.cluster.shared::cluster.v4.s32 [%0], {%1, %2, %3, %4};\n" ::"r"(remote),
      "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
      : "memory");
}

/// What this thread has written to its cluster's shared memory before is seen before what it writes
/// after.
__device__ inline void fence_cluster() { AMASIA_SM90_ASM("fence.acq_rel.cluster;\n" ::: "memory"); }

}  // namespace amasia::dsm
