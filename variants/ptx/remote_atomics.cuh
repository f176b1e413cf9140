// Additions to shared memory of the other blocks of a cluster, and bulk loads that arrive in
// several of them (PTX ISA: "red", "cp.async.bulk"; sm_90).
#pragma once

#include <cstdint>

#include "variants/ptx/dsm.cuh"

namespace amasia::dsm {

/// Adds to a word of the cluster's shared window; an address from remote_address(), whose block may
/// be this one. Nothing comes back: the addition is done when the cluster's barrier has been
/// passed.
__device__ inline void add_remote(unsigned remote, unsigned value) {
  AMASIA_SM90_ASM("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;\n" ::"r"(remote),
                  "r"(value)
                  : "memory");
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
