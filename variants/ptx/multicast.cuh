// Hand-back of stages that several blocks of a cluster fill (PTX ISA: "mbarrier.arrive"; sm_90).
#pragma once

#include <cstdint>

#include "variants/ptx/tma.cuh"

namespace amasia::dsm {

/// Arrives at an mbarrier of a peer to say that this thread's warp has read what lies in shared
/// memory. Unlike arrive_remote() it publishes no writes: release at cluster scope is a fence over
/// all of the device's memory (MEMBAR.ALL.GPU), longer than the multiplication of a slice on tensor
/// cores. What overwrites the stage is a copy that a thread asks for after it has waited for all
/// such arrivals.
__device__ inline void arrive_read(unsigned remote_barrier) {
  AMASIA_SM90_ASM("mbarrier.arrive.shared::cluster.b64 _, [%0];\n" ::"r"(remote_barrier)
                  : "memory");
}

}  // namespace amasia::dsm
