// wgmma in the types and widths of the source documents' tables, dense and sparse, A from shared
// memory (SS) or registers (RS), as one template: Wgmma<f16, f32, 256>. Sums are 32-bit words, f16
// packed by two. Tiles, descriptors and fences: variants/ptx/wgmma.cuh. B of a sparse product has
// twice the k of A's stored half.
#pragma once

#include "microbench/tensor_core/mma.cuh"
#include "variants/ptx/wgmma.cuh"

namespace amasia::tensor {

/// 64 x N. One step of k is 32 bytes of A.
template <Element E, Sum S, int N>
struct Wgmma;

// USE(<list of sums>, <the numbers of the next seven operands>, ...) by number of sums.
#define AMASIA_SUMS_4(USE, ...) \
  USE("{"                       \
      "%0, %1, %2, %3"          \
      "}",                      \
      "%4", "%5", "%6", "%7", "%8", "%9", "%10", __VA_ARGS__)
#define AMASIA_SUMS_8(USE, ...)        \
  USE("{"                              \
      "%0, %1, %2, %3, %4, %5, %6, %7" \
      "}",                             \
      "%8", "%9", "%10", "%11", "%12", "%13", "%14", __VA_ARGS__)
#define AMASIA_SUMS_16(USE, ...)                                             \
  USE("{"                                                                    \
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15" \
      "}",                                                                   \
      "%16", "%17", "%18", "%19", "%20", "%21", "%22", __VA_ARGS__)
#define AMASIA_SUMS_32(USE, ...) \
  USE(AMASIA_REGISTERS_32, "%32", "%33", "%34", "%35", "%36", "%37", "%38", __VA_ARGS__)
#define AMASIA_SUMS_64(USE, ...) \
  USE(AMASIA_REGISTERS_64, "%64", "%65", "%66", "%67", "%68", "%69", "%70", __VA_ARGS__)
#define AMASIA_SUMS_128(USE, ...) \
  USE(AMASIA_REGISTERS_128, "%128", "%129", "%130", "%131", "%132", "%133", "%134", __VA_ARGS__)

#define AMASIA_S4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define AMASIA_S8(i) AMASIA_S4(i), AMASIA_S4(i + 4)
#define AMASIA_S16(i) AMASIA_S8(i), AMASIA_S8(i + 8)
#define AMASIA_S32(i) AMASIA_S16(i), AMASIA_S16(i + 16)
#define AMASIA_S64(i) AMASIA_S32(i), AMASIA_S32(i + 32)
#define AMASIA_S128(i) AMASIA_S64(i), AMASIA_S64(i + 64)

#define AMASIA_P(i) "{\n.reg .pred p;\nsetp.ne.b32 p, " i ", 0;\n"
// Operands of SS: a, b, accumulate, metadata; of RS: a (4), b, accumulate, metadata.
#define AMASIA_SS(d, a, b, c, m, i4, i5, i6, OP, TAIL) \
  AMASIA_P(c) "wgmma.mma_async.sync.aligned." OP " " d ", " a ", " b ", p" TAIL ";\n}\n"
#define AMASIA_SP_SS(d, a, b, c, m, i4, i5, i6, OP, TAIL) \
  AMASIA_P(c)                                             \
  "wgmma.mma_async.sp.sync.aligned." OP " " d ", " a ", " b ", " m ", 0, p" TAIL ";\n}\n"
#define AMASIA_RS(d, a0, a1, a2, a3, b, c, m, OP, TAIL)                                        \
  AMASIA_P(c)                                                                                  \
  "wgmma.mma_async.sync.aligned." OP " " d ", {" a0 ", " a1 ", " a2 ", " a3 "}, " b ", p" TAIL \
  ";\n}\n"
#define AMASIA_SP_RS(d, a0, a1, a2, a3, b, c, m, OP, TAIL)                                    \
  AMASIA_P(c)                                                                                 \
  "wgmma.mma_async.sp.sync.aligned." OP " " d ", {" a0 ", " a1 ", " a2 ", " a3 "}, " b ", " m \
  ", 0, p" TAIL ";\n}\n"

#define AMASIA_WGMMA_OF(E, S, N, R, SUFFIX, DENSE_K, SPARSE_K, TAIL_SS, TAIL_RS)                \
  template <>                                                                                   \
  struct Wgmma<Element::E, Sum::S, N> {                                                         \
    static constexpr Element element = Element::E;                                              \
    static constexpr Sum sum = Sum::S;                                                          \
    static constexpr int n = N, words = R, dense_k = DENSE_K, sparse_k = SPARSE_K;              \
    template <Mode M>                                                                           \
    static __device__ void multiply(unsigned (&d)[R], std::uint64_t a, std::uint64_t b,         \
                                    int accumulate, unsigned metadata) {                        \
      if constexpr (M == Mode::dense) {                                                         \
        AMASIA_WGMMA_ASM(AMASIA_SUMS_##R(AMASIA_SS, "m64n" #N "k" #DENSE_K SUFFIX, TAIL_SS)     \
                         : AMASIA_S##R(0)                                                       \
                         : "l"(a), "l"(b), "r"(accumulate), "r"(metadata));                     \
      } else {                                                                                  \
        AMASIA_WGMMA_ASM(AMASIA_SUMS_##R(AMASIA_SP_SS, "m64n" #N "k" #SPARSE_K SUFFIX, TAIL_SS) \
                         : AMASIA_S##R(0)                                                       \
                         : "l"(a), "l"(b), "r"(accumulate), "r"(metadata));                     \
      }                                                                                         \
    }                                                                                           \
    template <Mode M>                                                                           \
    static __device__ void multiply(unsigned (&d)[R], const unsigned (&a)[4], std::uint64_t b,  \
                                    int accumulate, unsigned metadata) {                        \
      if constexpr (M == Mode::dense) {                                                         \
        AMASIA_WGMMA_ASM(AMASIA_SUMS_##R(AMASIA_RS, "m64n" #N "k" #DENSE_K SUFFIX, TAIL_RS)     \
                         : AMASIA_S##R(0)                                                       \
                         : AMASIA_W4(a), "l"(b), "r"(accumulate), "r"(metadata));               \
      } else {                                                                                  \
        AMASIA_WGMMA_ASM(AMASIA_SUMS_##R(AMASIA_SP_RS, "m64n" #N "k" #SPARSE_K SUFFIX, TAIL_RS) \
                         : AMASIA_S##R(0)                                                       \
                         : AMASIA_W4(a), "l"(b), "r"(accumulate), "r"(metadata));               \
      }                                                                                         \
    }                                                                                           \
  }

// No sign turned; 16-bit types say besides that rows are k-major.
#define AMASIA_16_SS ", 1, 1, 0, 0"
#define AMASIA_16_RS ", 1, 1, 0"
#define AMASIA_8_BOTH ", 1, 1"

AMASIA_WGMMA_OF(f16, f16, 256, 64, ".f16.f16.f16", 16, 32, AMASIA_16_SS, AMASIA_16_RS);
AMASIA_WGMMA_OF(f16, f32, 256, 128, ".f32.f16.f16", 16, 32, AMASIA_16_SS, AMASIA_16_RS);
AMASIA_WGMMA_OF(f16, f32, 128, 64, ".f32.f16.f16", 16, 32, AMASIA_16_SS, AMASIA_16_RS);
AMASIA_WGMMA_OF(f16, f32, 64, 32, ".f32.f16.f16", 16, 32, AMASIA_16_SS, AMASIA_16_RS);
AMASIA_WGMMA_OF(f16, f32, 32, 16, ".f32.f16.f16", 16, 32, AMASIA_16_SS, AMASIA_16_RS);
AMASIA_WGMMA_OF(f16, f32, 16, 8, ".f32.f16.f16", 16, 32, AMASIA_16_SS, AMASIA_16_RS);
AMASIA_WGMMA_OF(f16, f32, 8, 4, ".f32.f16.f16", 16, 32, AMASIA_16_SS, AMASIA_16_RS);
AMASIA_WGMMA_OF(bf16, f32, 256, 128, ".f32.bf16.bf16", 16, 32, AMASIA_16_SS, AMASIA_16_RS);
AMASIA_WGMMA_OF(tf32, f32, 256, 128, ".f32.tf32.tf32", 8, 16, AMASIA_8_BOTH, AMASIA_8_BOTH);
AMASIA_WGMMA_OF(e4m3, f16, 256, 64, ".f16.e4m3.e4m3", 32, 64, AMASIA_8_BOTH, AMASIA_8_BOTH);
AMASIA_WGMMA_OF(e4m3, f32, 256, 128, ".f32.e4m3.e4m3", 32, 64, AMASIA_8_BOTH, AMASIA_8_BOTH);
AMASIA_WGMMA_OF(e5m2, f16, 256, 64, ".f16.e5m2.e5m2", 32, 64, AMASIA_8_BOTH, AMASIA_8_BOTH);
AMASIA_WGMMA_OF(e5m2, f32, 256, 128, ".f32.e5m2.e5m2", 32, 64, AMASIA_8_BOTH, AMASIA_8_BOTH);
AMASIA_WGMMA_OF(s8, s32, 256, 128, ".s32.s8.s8", 32, 64, "", "");
// There is no sparse product of bits.
AMASIA_WGMMA_OF(b1, s32, 256, 128, ".s32.b1.b1.and.popc", 256, 512, "", "");

}  // namespace amasia::tensor
