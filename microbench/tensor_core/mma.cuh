// mma.sync and mma.sp.sync in the shapes and types of the source documents' tables, as one
// template: Mma<f16, f32, 16, dense> is mma.sync.m16n8k16 of f16 into f32. Fragments in 32-bit
// words as in variants/ptx/mma.cuh, f16 sums packed by two; B of a sparse product has twice the
// words of A's row.
#pragma once

#include <cuda_runtime.h>

#include "microbench/tensor_core/operands.hpp"
#include "variants/ptx/guarded_asm.cuh"

namespace amasia::tensor {

enum class Mode { dense, sparse };

/// m16n8kK; for sparse, K is that of the whole product, twice the packed one.
template <Element E, Sum S, int K, Mode M>
struct Mma;

// As those of guarded_asm.cuh.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
#define AMASIA_MMA_FP8_ASM(...) asm volatile(__VA_ARGS__)
#else
#define AMASIA_MMA_FP8_ASM(...) __trap()
#endif

// The unordered form of metadata is slow from sm_90 on (PTX ISA); toolkits before 12.5 have no
// other.
#if CUDART_VERSION >= 12050
#define AMASIA_MMA_SP "mma.sp::ordered_metadata.sync.aligned."
#else
#define AMASIA_MMA_SP "mma.sp.sync.aligned."
#endif

#define AMASIA_W1(x) "r"(x[0])
#define AMASIA_W2(x) "r"(x[0]), "r"(x[1])
#define AMASIA_W4(x) "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
#define AMASIA_SUM2 "+r"(d[0]), "+r"(d[1])
#define AMASIA_SUM4 "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
#define AMASIA_D2 "{%0, %1}, "
#define AMASIA_D4 "{%0, %1, %2, %3}, "

// Text after the opcode by words of A, B and D.
#define AMASIA_MMA_2_1_2 AMASIA_D2 "{%2, %3}, {%4}, {%0, %1};\n"
#define AMASIA_MMA_2_1_4 AMASIA_D4 "{%4, %5}, {%6}, {%0, %1, %2, %3};\n"
#define AMASIA_MMA_4_2_2 AMASIA_D2 "{%2, %3, %4, %5}, {%6, %7}, {%0, %1};\n"
#define AMASIA_MMA_4_2_4 AMASIA_D4 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
#define AMASIA_MMA_2_2_2 AMASIA_D2 "{%2, %3}, {%4, %5}, {%0, %1}, %6, 0;\n"
#define AMASIA_MMA_2_2_4 AMASIA_D4 "{%4, %5}, {%6, %7}, {%0, %1, %2, %3}, %8, 0;\n"
#define AMASIA_MMA_4_4_2 AMASIA_D2 "{%2, %3, %4, %5}, {%6, %7, %8, %9}, {%0, %1}, %10, 0;\n"
#define AMASIA_MMA_4_4_4 \
  AMASIA_D4 "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0;\n"

#define AMASIA_MMA_OF(ASM, E, S, K, M, OPCODE, A, B, D)                                           \
  template <>                                                                                     \
  struct Mma<Element::E, Sum::S, K, Mode::M> {                                                    \
    static constexpr Element element = Element::E;                                                \
    static constexpr Sum sum = Sum::S;                                                            \
    static constexpr int k = K, a_words = A, b_words = B, d_words = D;                            \
    static constexpr Mode mode = Mode::M;                                                         \
    static __device__ void multiply(unsigned (&d)[D], const unsigned (&a)[A],                     \
                                    const unsigned (&b)[B], [[maybe_unused]] unsigned metadata) { \
      ASM(OPCODE AMASIA_MMA_##A##_##B##_##D                                                       \
          : AMASIA_SUM##D                                                                         \
          : AMASIA_W##A(a), AMASIA_W##B(b), "r"(metadata));                                       \
    }                                                                                             \
  }
#define AMASIA_DENSE(ASM, E, S, K, TYPES, A, B, D) \
  AMASIA_MMA_OF(ASM, E, S, K, dense, "mma.sync.aligned.m16n8k" #K ".row.col." TYPES " ", A, B, D)
#define AMASIA_SPARSE(ASM, E, S, K, TYPES, A, B, D) \
  AMASIA_MMA_OF(ASM, E, S, K, sparse, AMASIA_MMA_SP "m16n8k" #K ".row.col." TYPES " ", A, B, D)

AMASIA_DENSE(AMASIA_SM80_ASM, f16, f16, 8, "f16.f16.f16.f16", 2, 1, 2);
AMASIA_DENSE(AMASIA_SM80_ASM, f16, f16, 16, "f16.f16.f16.f16", 4, 2, 2);
AMASIA_DENSE(AMASIA_SM80_ASM, f16, f32, 8, "f32.f16.f16.f32", 2, 1, 4);
AMASIA_DENSE(AMASIA_SM80_ASM, f16, f32, 16, "f32.f16.f16.f32", 4, 2, 4);
AMASIA_DENSE(AMASIA_SM80_ASM, bf16, f32, 16, "f32.bf16.bf16.f32", 4, 2, 4);
AMASIA_DENSE(AMASIA_SM80_ASM, tf32, f32, 4, "f32.tf32.tf32.f32", 2, 1, 4);
AMASIA_DENSE(AMASIA_SM80_ASM, tf32, f32, 8, "f32.tf32.tf32.f32", 4, 2, 4);
AMASIA_DENSE(AMASIA_SM80_ASM, s8, s32, 16, "s32.s8.s8.s32", 2, 1, 4);
AMASIA_DENSE(AMASIA_SM80_ASM, s8, s32, 32, "s32.s8.s8.s32", 4, 2, 4);
AMASIA_DENSE(AMASIA_SM80_ASM, s4, s32, 64, "s32.s4.s4.s32", 4, 2, 4);
AMASIA_MMA_OF(AMASIA_SM80_ASM, b1, s32, 256, dense,
              "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc ", 4, 2, 4);
AMASIA_DENSE(AMASIA_MMA_FP8_ASM, e4m3, f32, 32, "f32.e4m3.e4m3.f32", 4, 2, 4);
AMASIA_DENSE(AMASIA_MMA_FP8_ASM, e5m2, f32, 32, "f32.e5m2.e5m2.f32", 4, 2, 4);

AMASIA_SPARSE(AMASIA_SM80_ASM, f16, f16, 16, "f16.f16.f16.f16", 2, 2, 2);
AMASIA_SPARSE(AMASIA_SM80_ASM, f16, f16, 32, "f16.f16.f16.f16", 4, 4, 2);
AMASIA_SPARSE(AMASIA_SM80_ASM, f16, f32, 16, "f32.f16.f16.f32", 2, 2, 4);
AMASIA_SPARSE(AMASIA_SM80_ASM, f16, f32, 32, "f32.f16.f16.f32", 4, 4, 4);
AMASIA_SPARSE(AMASIA_SM80_ASM, bf16, f32, 32, "f32.bf16.bf16.f32", 4, 4, 4);
AMASIA_SPARSE(AMASIA_SM80_ASM, tf32, f32, 8, "f32.tf32.tf32.f32", 2, 2, 4);
AMASIA_SPARSE(AMASIA_SM80_ASM, tf32, f32, 16, "f32.tf32.tf32.f32", 4, 4, 4);
AMASIA_SPARSE(AMASIA_SM80_ASM, s8, s32, 32, "s32.s8.s8.s32", 2, 2, 4);
AMASIA_SPARSE(AMASIA_SM80_ASM, s8, s32, 64, "s32.s8.s8.s32", 4, 4, 4);

}  // namespace amasia::tensor
