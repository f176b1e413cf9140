// An mbarrier that begins anew, in the same place (PTX ISA: "mbarrier.inval"; sm_90).
#pragma once

#include "variants/ptx/mbarrier.cuh"

namespace amasia::tma {

/// As init(), for a barrier that was initialised before and that nobody uses any more.
__device__ inline void init_again(Barrier* barrier, unsigned arrivals) {
  AMASIA_SM90_ASM("mbarrier.inval.shared::cta.b64 [%0];\n" ::"r"(shared_address(barrier))
                  : "memory");
  init(barrier, arrivals);
}

}  // namespace amasia::tma
