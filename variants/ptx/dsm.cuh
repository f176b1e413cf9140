// dsm: shared memory of the other blocks of a thread-block cluster (PTX ISA: "mapa", "st.async",
// "barrier.cluster"; sm_90).
#pragma once

#include <cstdint>

#include "variants/ptx/cp_async.cuh"
#include "variants/ptx/tma.cuh"

namespace amasia::dsm {

using async::shared_address;

__device__ inline unsigned rank() {
  unsigned r = 0;
  AMASIA_SM90_ASM("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(r));
  return r;
}

__device__ inline unsigned size() {
  unsigned n = 0;
  AMASIA_SM90_ASM("mov.u32 %0, %%cluster_nctarank;\n" : "=r"(n));
  return n;
}

/// The address, in the cluster's shared window, of the peer's counterpart of `local`.
__device__ inline unsigned remote_address(const void* local, unsigned peer) {
  unsigned address = 0;
  AMASIA_SM90_ASM("mapa.shared::cluster.u32 %0, %1, %2;\n"
                  : "=r"(address)
                  : "r"(shared_address(local)), "r"(peer));
  return address;
}

__device__ inline int load(unsigned remote) {
  int value = 0;
  AMASIA_SM90_ASM("ld.shared::cluster.s32 %0, [%1];\n" : "=r"(value) : "r"(remote) : "memory");
  return value;
}
__device__ inline float load_float(unsigned remote) { return __int_as_float(load(remote)); }

__device__ inline void store(unsigned remote, int value) {
  AMASIA_SM90_ASM("st.shared::cluster.s32 [%0], %1;\n" ::"r"(remote), "r"(value) : "memory");
}
/// 16 bytes; the address is a multiple of 16.
__device__ inline void store(unsigned remote, float4 value) {
  AMASIA_SM90_ASM("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};\n" ::"r"(remote), "f"(value.x),
                  "f"(value.y), "f"(value.z), "f"(value.w)
                  : "memory");
}

__device__ inline void store(unsigned remote, float value) { store(remote, __float_as_int(value)); }

/// A 4-byte store that counts as 4 bytes on the peer's mbarrier: data and hand-over in one message.
__device__ inline void store_async(unsigned remote, int value, unsigned remote_barrier) {
  AMASIA_SM90_ASM(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];\n" ::"r"(remote),
      "r"(value), "r"(remote_barrier)
      : "memory");
}

/// The same for 16 bytes: one message where four would each have to be counted.
__device__ inline void store_async(unsigned remote, int4 value, unsigned remote_barrier) {
  AMASIA_SM90_ASM(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, "
      "[%5];\n" ::"r"(remote),
      "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(remote_barrier)
      : "memory");
}

/// Arrives at an mbarrier of a peer (release at cluster scope).
__device__ inline void arrive_remote(unsigned remote_barrier) {
  AMASIA_SM90_ASM(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];\n" ::"r"(remote_barrier)
      : "memory");
}

/// Waits with acquire at cluster scope, for data that peers wrote with plain remote stores.
__device__ inline void wait_cluster(tma::Barrier* barrier, unsigned parity) {
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

/// The cluster barrier in its two halves: work between them overlaps the wait.
__device__ inline void cluster_arrive() {
  AMASIA_SM90_ASM("barrier.cluster.arrive.release.aligned;\n" ::: "memory");
}
__device__ inline void cluster_wait() {
  AMASIA_SM90_ASM("barrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}
__device__ inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

}  // namespace amasia::dsm
