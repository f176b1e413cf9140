// A thread-block cluster: its barrier, the shared memory and mbarriers of its other blocks, and
// bulk copies that arrive in several of them (PTX ISA: "mapa", "barrier.cluster", "st.async",
// "red", "mbarrier", "cp.async.bulk" with .multicast::cluster; sm_90).
#pragma once

#include <cuda.h>

#include <cstdint>

#include "variants/ptx/guarded_asm.cuh"
#include "variants/ptx/mbarrier.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::dsm {

using async::shared_address;

/// This block's place in its cluster, and how many blocks that has.
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

/// The cluster barrier in its two halves: work between them overlaps the wait.
__device__ inline void cluster_arrive() {
  AMASIA_SM90_ASM("barrier.cluster.arrive.release.aligned;\n" ::: "memory");
}
__device__ inline void cluster_wait() {
  AMASIA_SM90_ASM("barrier.cluster.wait.acquire.aligned;\n" ::: "memory");
}
/// As cluster_arrive(), to signal that this block runs and can be sent to, after tma::fence_init()
/// where there are mbarriers. cluster_arrive() would publish other writes, too, by a fence per warp
/// over all of device memory, for which later loads wait.
__device__ inline void cluster_arrive_initialised() {
  AMASIA_SM90_ASM("barrier.cluster.arrive.relaxed.aligned;\n" ::: "memory");
}
__device__ inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
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
/// 16 bytes; an address from remote_address(), a multiple of 16.
__device__ inline float4 load_float4(unsigned remote) {
  float4 v{};
  AMASIA_SM90_ASM("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];\n"
                  : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                  : "r"(remote)
                  : "memory");
  return v;
}

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

/// Adds to a word of the cluster's shared window; an address from remote_address(), whose block may
/// be this one. Nothing comes back: the addition is done when the cluster's barrier has been
/// passed.
__device__ inline void add_remote(unsigned remote, unsigned value) {
  AMASIA_SM90_ASM("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;\n" ::"r"(remote),
                  "r"(value)
                  : "memory");
}

/// Arrives at an mbarrier of a peer (release at cluster scope).
__device__ inline void arrive_remote(unsigned remote_barrier) {
  AMASIA_SM90_ASM(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];\n" ::"r"(remote_barrier)
      : "memory");
}

/// Arrives at an mbarrier of a peer after this thread's warp has read a stage of shared memory. A
/// release at block scope, which publishes no writes to the peer. One at cluster scope is a fence
/// over all of the device's memory (MEMBAR.ALL.GPU), longer than the product of a slice on tensor
/// cores. Who overwrites the stage by a copy has waited for all such arrivals.
__device__ inline void arrive_read(unsigned remote_barrier) {
  AMASIA_SM90_ASM("mbarrier.arrive.shared::cluster.b64 _, [%0];\n" ::"r"(remote_barrier)
                  : "memory");
}

/// Waits with acquire at cluster scope, for data that peers wrote with plain remote stores. _at:
/// for a barrier whose shared address is at hand.
__device__ inline void wait_cluster_at(unsigned barrier, unsigned parity) {
  AMASIA_SM90_ASM(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n"
      "}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ inline void wait_cluster(tma::Barrier* barrier, unsigned parity) {
  wait_cluster_at(shared_address(barrier), parity);
}

/// As tma::load_bytes(), into the same place of every block of the cluster whose bit is set in
/// `blocks`; each block's own `barrier` counts all the bytes.
__device__ inline void load_bytes_multicast(void* shared, const void* global, unsigned bytes,
                                            tma::Barrier* barrier, std::uint16_t blocks) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%0], [%1], %2, [%3], %4;\n" ::"r"(shared_address(shared)),
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

}  // namespace amasia::dsm

namespace amasia::tma {

/// As load_tile(), into the same place of every block of the cluster whose bit is set in `blocks`;
/// each block's own `barrier` counts the whole box.
__device__ inline void load_tile_multicast(void* shared, const CUtensorMap* map, int column,
                                           int row, Barrier* barrier, std::uint16_t blocks) {
  AMASIA_SM90_ASM(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;\n" ::"r"(shared_address(shared)),
      "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(blocks)
      : "memory");
}

}  // namespace amasia::tma
