// Registers: values of which the compiler knows nothing, and those that warps of a block give back
// and others take (PTX ISA: "setmaxnreg"; here sm_90a alone, as wgmma). Launch bounds set how many
// each thread begins with. A warp that takes registers waits until enough were given back.
#pragma once

#include "variants/ptx/guarded_asm.cuh"

namespace amasia {

/// The same value, in a register: the compiler neither works it out anew where it is used, nor
/// concludes from it. Costs no instruction. Integers and pointers of 4 or 8 bytes.
template <class Value>
__device__ __forceinline__ Value opaque(Value value) {
  static_assert(sizeof(Value) == 4 || sizeof(Value) == 8);
  if constexpr (sizeof(Value) == 8) {
    asm volatile("" : "+l"(value));
  } else {
    asm volatile("" : "+r"(value));
  }
  return value;
}

namespace registers {

/// Registers of an SM, in units of those of a warpgroup's 128 threads: what the shares of all
/// warpgroups of an SM may add up to.
inline constexpr int of_warpgroups = 65536 / 128;

/// What ptxas gives a thread of a block of `warpgroups` that has the SM for itself: the even share,
/// in steps of 8.
constexpr int even_share(int warpgroups) { return of_warpgroups / warpgroups / 8 * 8; }

/// All warps of a warpgroup: from here on a thread has COUNT registers, fewer than before. To be
/// called where the way of the warpgroup parts from that of the others.
template <int COUNT>
__device__ void decrease() {
  static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "PTX ISA: setmaxnreg");
  AMASIA_WGMMA_ASM("setmaxnreg.dec.sync.aligned.u32 %0;\n" ::"n"(COUNT));
}

/// The same with more than before.
template <int COUNT>
__device__ void increase() {
  static_assert(COUNT % 8 == 0 && COUNT >= 24 && COUNT <= 256, "PTX ISA: setmaxnreg");
  AMASIA_WGMMA_ASM("setmaxnreg.inc.sync.aligned.u32 %0;\n" ::"n"(COUNT));
}

}  // namespace registers
}  // namespace amasia
