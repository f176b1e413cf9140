// Start of a cluster whose blocks send to each other's shared memory: every block must run, with
// its mbarriers initialised (PTX ISA: "barrier.cluster", "fence.mbarrier_init"; sm_90).
#pragma once

#include "variants/ptx/cluster.cuh"

namespace amasia::dsm {

/// Arrives at the cluster's barrier to signal that; cluster_wait() follows. A thread that
/// initialised barriers has called tma::fence_init() since. cluster_arrive() would also publish the
/// block's other writes, by a fence per warp over all of the device's memory. Later loads would
/// wait for that fence.
__device__ inline void cluster_arrive_initialised() {
  AMASIA_SM90_ASM("barrier.cluster.arrive.relaxed.aligned;\n" ::: "memory");
}

}  // namespace amasia::dsm
