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
/// The generic address of the peer's counterpart of `local`. A store to an address of the shared
/// window makes one of it each time, by a special register that takes 20 cycles.
__device__ inline unsigned long long remote_generic(const void* local, unsigned peer) {
  unsigned long long address = 0;
  AMASIA_SM90_ASM("mapa.u64 %0, %1, %2;\n" : "=l"(address) : "l"(local), "r"(peer));
  return address;
}
/// Four words, each for itself, by the threads whose `condition` is not 0, without a branch; the
/// address is a multiple of 16.
__device__ inline void store_relaxed_if(int condition, unsigned long long generic, int4 value) {
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred wanted;\n"
      "setp.ne.s32 wanted, %0, 0;\n"
      "@wanted st.relaxed.cluster.v4.s32 [%1], {%2, %3, %4, %5};\n"
      "}\n" ::"r"(condition),
      "l"(generic), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
      : "memory");
}

/// What this thread has written to its cluster's shared memory before is seen before what it writes
/// after.
__device__ inline void fence_cluster() { AMASIA_SM90_ASM("fence.acq_rel.cluster;\n" ::: "memory"); }

}  // namespace amasia::dsm
