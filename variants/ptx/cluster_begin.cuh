// How a cluster begins whose blocks send to each other's shared memory: every block has to run, and
// its mbarriers to be initialised (PTX ISA: "barrier.cluster", "fence.mbarrier_init"; sm_90).
#pragma once

#include "variants/ptx/cluster.cuh"

namespace amasia::dsm {

/// Arrives at the cluster's barrier to say so; cluster_wait() follows. A thread that initialised
/// barriers has called tma::fence_init() since. cluster_arrive() would publish all else that the
/// block wrote, too, by a fence over all of the device's memory, for each warp, and a load that a
/// thread asks for afterwards would wait for it.
__device__ inline void cluster_arrive_initialised() {
  AMASIA_SM90_ASM("barrier.cluster.arrive.relaxed.aligned;\n" ::: "memory");
}

}  // namespace amasia::dsm
