// 16 bytes of another block's shared memory at once (PTX ISA: "ld.shared::cluster"; sm_90).
#pragma once

#include "variants/ptx/cluster.cuh"

namespace amasia::dsm {

/// 16 bytes; an address from remote_address(), a multiple of 16.
__device__ inline float4 load_float4(unsigned remote) {
  float4 v{};
  AMASIA_SM90_ASM("ld.shared::cluster.v4.f32 {%0, %1, %2, %3}, [%4];\n"
                  : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                  : "r"(remote)
                  : "memory");
  return v;
}

}  // namespace amasia::dsm
