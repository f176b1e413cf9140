// ldmatrix and mma.sync: a warp multiplies fragments in its registers (PTX ISA: "Warp Level Matrix
// Instructions"; ldmatrix from sm_75, bf16, tf32 and fp64 from sm_80, e4m3 from sm_89).
// With g = lane / 4 and t = lane % 4, in 32-bit words along k (two bf16, one tf32), the layout is:
//   `a[0..3]` = A[g][t], A[g + 8][t], A[g][t + 4], A[g + 8][t + 4]: rows of m.
//   `b[0..1]` = B[g][t], B[g][t + 4]: rows of n.
//   `d[0..3]` = D[g][2 t], D[g][2 t + 1], D[g + 8][2 t], D[g + 8][2 t + 1].
#pragma once

#include "variants/ptx/guarded_asm.cuh"

namespace amasia::mma {

/// Four 8 x 8 matrices of 16-bit elements: lane 8 i + r gives the 32-bit shared address of row r of
/// matrix i, 16 bytes. Then word[i] is word t of row g of matrix i. With A's rows 0-7 and 8-15 at k
/// 0 and again at k + 8, the four are a fragment of A.
__device__ inline void load_matrices(unsigned (&word)[4], unsigned shared_row) {
  AMASIA_SM80_ASM("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                  : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                  : "r"(shared_row)
                  : "memory");
}

/// The same, each matrix transposed: rows of k in shared memory, fragments as above.
__device__ inline void load_matrices_transposed(unsigned (&word)[4], unsigned shared_row) {
  AMASIA_SM80_ASM("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                  : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                  : "r"(shared_row)
                  : "memory");
}

/// A 32-bit word from a shared address: fragments that no ldmatrix can load, a transposed tf32
/// tile.
__device__ inline unsigned load_word(unsigned shared) {
  unsigned word = 0;
  asm volatile("ld.shared.u32 %0, [%1];\n" : "=r"(word) : "r"(shared) : "memory");
  return word;
}

// NAME(d, a, b): d (16 x 8, f32) += a (16 x k) * b (k x 8). A macro, because an asm statement needs
// literals.
#define AMASIA_MMA(GUARDED_ASM, NAME, INSTRUCTION)                                          \
  __device__ inline void NAME(float(&d)[4], const unsigned(&a)[4], const unsigned(&b)[2]) { \
    GUARDED_ASM("mma.sync.aligned." INSTRUCTION                                             \
                " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"        \
                : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                            \
                : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));        \
  }
AMASIA_MMA(AMASIA_SM80_ASM, m16n8k16, "m16n8k16.row.col.f32.bf16.bf16.f32")
// The 13 low bits of an f32 are not looked at: unless rounded (cvt.rna.tf32.f32), it is cut off.
AMASIA_MMA(AMASIA_SM80_ASM, m16n8k8, "m16n8k8.row.col.f32.tf32.tf32.f32")
AMASIA_MMA(AMASIA_SM89_ASM, m16n8k32, "m16n8k32.row.col.f32.e4m3.e4m3.f32")  // a word: four of k

/// d (8 x 8) = a (8 x 4) * b (4 x 8) + c in fp64: `a` = A[g][t], `b` = B[t][g], `d[0..1]` = D[g][2
/// t], D[g][2 t + 1]. Not volatile: the compiler may order it by its operands.
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
