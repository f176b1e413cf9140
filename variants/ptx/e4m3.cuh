// Multiplications of 8-bit floating point, e4m3 (4 bits of exponent, 3 of fraction), into fp32
// (PTX ISA: wgmma on sm_90a; mma.sync from sm_89). In a file of their own, so that what multiplies
// other types is not of another date because of them. Tensor cores of sm_90 keep about 14 bits of a
// sum of such products.
#pragma once

#include "variants/ptx/mma.cuh"
#include "variants/ptx/wgmma.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 890
#define AMASIA_SM89_ASM(...) asm volatile(__VA_ARGS__)
#else
#define AMASIA_SM89_ASM(...) __trap()
#endif

namespace amasia::wgmma {

/// As the other m64n256 of wgmma.cuh, with a (64 x 32, e4m3) and b (32 x 256, e4m3), both
/// Major::k: 8-bit types have no other.
__device__ inline void m64n256k32(float (&d)[128], std::uint64_t a, std::uint64_t b,
                                  bool accumulate = true) {
  AMASIA_WGMMA_ASM(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 " AMASIA_REGISTERS_128
      "%128, %129, accumulate, 1, 1;\n"
      "}\n"
      : AMASIA_ACCUMULATORS_128(d)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));
}

}  // namespace amasia::wgmma

namespace amasia::mma {

/// d (16 x 8, f32) += a (16 x 32, e4m3) * b (32 x 8, e4m3); a word is four elements along k.
__device__ inline void m16n8k32(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  AMASIA_SM89_ASM(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

}  // namespace amasia::mma
