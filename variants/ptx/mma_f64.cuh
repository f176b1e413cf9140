// mma.sync in fp64 (PTX ISA: "Warp Level Matrix Instructions", .f64; sm_80). With g = lane / 4 and
// t = lane % 4: `a` = A[g][t], `b` = B[t][g], `d[0..1]` = D[g][2 t], D[g][2 t + 1].
#pragma once

#include "variants/ptx/guarded_asm.cuh"

namespace amasia::mma {

/// d (8 x 8) = a (8 x 4) * b (4 x 8) + c. Not volatile: the compiler may order it by its operands.
__device__ inline void m8n8k4(double (&d)[2], double a, double b, const double (&c)[2]) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};\n"
      : "=d"(d[0]), "=d"(d[1])
      : "d"(a), "d"(b), "d"(c[0]), "d"(c[1]));
#else
  __trap();
#endif
}

}  // namespace amasia::mma
