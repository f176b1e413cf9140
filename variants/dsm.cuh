// dsm: shared memory of the other blocks of a thread-block cluster (PTX ISA: "mapa", "st.async",
// "barrier.cluster"; sm_90).
#pragma once

#include <cstdint>

#include "variants/async.cuh"
#include "variants/tma.cuh"

namespace amasia::dsm {

using async::shared_address;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

__device__ inline unsigned rank() {
  unsigned r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;\n" : "=r"(r));
  return r;
}

__device__ inline unsigned size() {
  unsigned n;
  asm volatile("mov.u32 %0, %%cluster_nctarank;\n" : "=r"(n));
  return n;
}

/// The address, in the cluster's shared window, of the peer's counterpart of `local`.
__device__ inline unsigned remote_address(const void* local, unsigned peer) {
  unsigned address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;\n"
               : "=r"(address)
               : "r"(shared_address(local)), "r"(peer));
  return address;
}

__device__ inline int load(unsigned remote) {
  int value;
  asm volatile("ld.shared::cluster.s32 %0, [%1];\n" : "=r"(value) : "r"(remote) : "memory");
  return value;
}
__device__ inline float load_float(unsigned remote) { return __int_as_float(load(remote)); }

__device__ inline void store(unsigned remote, int value) {
  asm volatile("st.shared::cluster.s32 [%0], %1;\n" ::"r"(remote), "r"(value) : "memory");
}
__device__ inline void store(unsigned remote, float value) { store(remote, __float_as_int(value)); }

/// A 4-byte store that counts as 4 bytes on the peer's mbarrier: data and hand-over in one message.
__device__ inline void store_async(unsigned remote, int value, unsigned remote_barrier) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];\n" ::"r"(remote),
      "r"(value), "r"(remote_barrier)
      : "memory");
}

/// Arrives at an mbarrier of a peer (release at cluster scope).
__device__ inline void arrive_remote(unsigned remote_barrier) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];\n" ::"r"(remote_barrier)
               : "memory");
}

/// Waits with acquire at cluster scope, for data that peers wrote with plain remote stores.
__device__ inline void wait_cluster(tma::Barrier* barrier, unsigned parity) {
  asm volatile(
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
  asm volatile("barrier.cluster.arrive.release.aligned;\n" ::: "memory");
}
__device__ inline void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}
__device__ inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}

#endif

}  // namespace amasia::dsm
