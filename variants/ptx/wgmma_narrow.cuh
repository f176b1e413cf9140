// wgmma with fewer columns than the 256 of wgmma.cuh and e4m3.cuh: the same operands, descriptors
// and places of elements in the accumulators. In a file of their own, because the digests of all
// apps cover wgmma.cuh, with which the tensor cores' ceilings are measured.
#pragma once

#include "variants/ptx/wgmma.cuh"

namespace amasia::wgmma {

// The 64 or 96 accumulators of one thread as asm operands.
#define AMASIA_ACCUMULATORS_64(d) AMASIA_ACCUMULATORS_32(d, 0), AMASIA_ACCUMULATORS_32(d, 32)
#define AMASIA_ACCUMULATORS_96(d) AMASIA_ACCUMULATORS_64(d), AMASIA_ACCUMULATORS_32(d, 64)
#define AMASIA_REGISTERS_64                                                          \
  "{"                                                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"   \
  "}, "
#define AMASIA_REGISTERS_96                                                          \
  "{"                                                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "           \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"   \
  "}, "

/// m64n256k16, bf16, with b (16 x 192).
template <Major A = Major::k, Major B = Major::k>
__device__ void m64n192k16(float (&d)[96], std::uint64_t a, std::uint64_t b,
                           bool accumulate = true) {
  AMASIA_WGMMA_ASM(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192k16.f32.bf16.bf16 " AMASIA_REGISTERS_96
      "%96, %97, accumulate, 1, 1, %99, %100;\n"
      "}\n"
      : AMASIA_ACCUMULATORS_96(d)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(static_cast<int>(A)),
        "n"(static_cast<int>(B)));
}

/// The same with b (16 x 128).
template <Major A = Major::k, Major B = Major::k>
__device__ void m64n128k16(float (&d)[64], std::uint64_t a, std::uint64_t b,
                           bool accumulate = true) {
  AMASIA_WGMMA_ASM(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 " AMASIA_REGISTERS_64
      "%64, %65, accumulate, 1, 1, %67, %68;\n"
      "}\n"
      : AMASIA_ACCUMULATORS_64(d)
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(static_cast<int>(A)),
        "n"(static_cast<int>(B)));
}

/// m64n256k8, tf32, a in registers, with b (8 x 128).
__device__ inline void m64n128k8(float (&d)[64], const unsigned (&a)[4], std::uint64_t b,
                                 bool accumulate = true) {
  AMASIA_WGMMA_ASM(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 " AMASIA_REGISTERS_64
      "{%64, %65, %66, %67}, %68, accumulate, 1, 1;\n"
      "}\n"
      : AMASIA_ACCUMULATORS_64(d)
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(accumulate)));
}

// Narrower ones, as m64n256k8 and m64n256k32 are, both operands Major::k in shared memory. `sums`:
// accumulators of a thread; operands of_a, of_b and of_on follow them.
#define AMASIA_WGMMA_K_MAJOR(name, instruction, sums, of_a, of_b, of_on)             \
  __device__ inline void name(float(&d)[sums], std::uint64_t a, std::uint64_t b,     \
                              bool accumulate = true) {                              \
    AMASIA_WGMMA_ASM(                                                                \
        "{\n"                                                                        \
        ".reg .pred accumulate;\n"                                                   \
        "setp.ne.b32 accumulate, " of_on                                             \
        ", 0;\n"                                                                     \
        "wgmma.mma_async.sync.aligned." instruction " " AMASIA_REGISTERS_##sums of_a \
        ", " of_b                                                                    \
        ", accumulate, 1, 1;\n"                                                      \
        "}\n"                                                                        \
        : AMASIA_ACCUMULATORS_##sums(d)                                              \
        : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));                        \
  }
AMASIA_WGMMA_K_MAJOR(m64n128k8, "m64n128k8.f32.tf32.tf32", 64, "%64", "%65", "%66")
AMASIA_WGMMA_K_MAJOR(m64n192k8, "m64n192k8.f32.tf32.tf32", 96, "%96", "%97", "%98")
AMASIA_WGMMA_K_MAJOR(m64n128k32, "m64n128k32.f32.e4m3.e4m3", 64, "%64", "%65", "%66")
AMASIA_WGMMA_K_MAJOR(m64n192k32, "m64n192k32.f32.e4m3.e4m3", 96, "%96", "%97", "%98")
#undef AMASIA_WGMMA_K_MAJOR

}  // namespace amasia::wgmma
