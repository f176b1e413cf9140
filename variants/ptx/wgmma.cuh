// wgmma: a warpgroup (128 threads of four consecutive warps, the first a multiple of four)
// multiplies tiles that lie in shared memory, asynchronously (PTX ISA: "Asynchronous Warpgroup
// Level Matrix Instructions"; sm_90a only: other architectures, later ones too, do not have it).
//
//   wgmma::hold(d); wgmma::fence();
//   for (...) wgmma::m64n256k16<Major::k, Major::mn>(d, a, b, accumulate);
//   wgmma::commit(); wgmma::wait<0>(); wgmma::hold(d);
#pragma once

#include <cstdint>
#include <type_traits>

#include "variants/ptx/guarded_asm.cuh"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::wgmma {

/// Which index runs along the 128-byte rows of a tile in shared memory: k, or m (of A) or n (of B).
/// tf32 and 8-bit types have k only.
enum class Major { k = 0, mn = 1 };

/// A matrix descriptor for tiles that the copy engine wrote with Swizzle::bytes128. `shared` is the
/// start of a tile, a multiple of 1024 B.
__device__ inline std::uint64_t descriptor(const void* shared, unsigned leading_bytes,
                                           unsigned stride_bytes) {
  constexpr std::uint64_t swizzle_bytes128 = std::uint64_t{1} << 62;
  const std::uint64_t start = (async::shared_address(shared) & 0x3FFFF) / 16;
  return start | std::uint64_t{leading_bytes / 16} << 16 | std::uint64_t{stride_bytes / 16} << 32 |
         swizzle_bytes128;
}

/// Major::k: row r (of A's m or B's n) has 128 bytes of k, eight rows are 1024 B. The next k step
/// of one instruction (32 bytes: 16 bf16, 8 tf32) starts advance(d, 32).
__device__ inline std::uint64_t k_major(const void* shared) {
  return descriptor(shared, 16, 1024);  // the leading dimension is not looked at
}

/// Major::mn, 16-bit types: row k has 64 elements of m or n; `chunk_bytes` from those to the next
/// 64 (128 x rows of k in the tile: a box of 64 columns after the other). The next 16 of k start
/// advance(d, 2048).
__device__ inline std::uint64_t mn_major(const void* shared, unsigned chunk_bytes) {
  return descriptor(shared, chunk_bytes, 1024);
}

__device__ inline std::uint64_t advance(std::uint64_t descriptor, unsigned bytes) {
  return descriptor + bytes / 16;
}

/// Before the first multiplication, and after ordinary code touched the accumulators.
__device__ inline void fence() { AMASIA_WGMMA_ASM("wgmma.fence.sync.aligned;\n" ::: "memory"); }

/// Closes the group of multiplications issued since the last commit.
__device__ inline void commit() {
  AMASIA_WGMMA_ASM("wgmma.commit_group.sync.aligned;\n" ::: "memory");
}

/// Waits until at most PENDING groups of this warpgroup are unfinished: their accumulators can then
/// be read and their tiles overwritten.
template <int PENDING>
__device__ void wait() {
  AMASIA_WGMMA_ASM("wgmma.wait_group.sync.aligned %0;\n" ::"n"(PENDING) : "memory");
}

/// Keeps the compiler from moving accesses to accumulators across this point: it does not know that
/// they change until wait().
template <class T, int COUNT>
__device__ void hold(T (&d)[COUNT]) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    if constexpr (std::is_same_v<T, float>) {
      asm volatile("" : "+f"(d[i])::"memory");
    } else {
      asm volatile("" : "+r"(d[i])::"memory");
    }
  }
}

// The accumulators of one thread as asm operands, and their numbers.
#define AMASIA_ACCUMULATORS_8(d, i)                                                           \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), \
      "+f"(d[i + 6]), "+f"(d[i + 7])
#define AMASIA_ACCUMULATORS_32(d, i)                                                              \
  AMASIA_ACCUMULATORS_8(d, i), AMASIA_ACCUMULATORS_8(d, i + 8), AMASIA_ACCUMULATORS_8(d, i + 16), \
      AMASIA_ACCUMULATORS_8(d, i + 24)
#define AMASIA_ACCUMULATORS_64(d) AMASIA_ACCUMULATORS_32(d, 0), AMASIA_ACCUMULATORS_32(d, 32)
#define AMASIA_ACCUMULATORS_96(d) AMASIA_ACCUMULATORS_64(d), AMASIA_ACCUMULATORS_32(d, 64)
#define AMASIA_ACCUMULATORS_128(d) AMASIA_ACCUMULATORS_96(d), AMASIA_ACCUMULATORS_32(d, 96)
#define AMASIA_NUMBERS_0_31                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define AMASIA_NUMBERS_32_63                                                         \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define AMASIA_NUMBERS_64_95                                                         \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define AMASIA_NUMBERS_96_127                                                                    \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define AMASIA_REGISTERS_32 "{" AMASIA_NUMBERS_0_31 "}"
#define AMASIA_REGISTERS_64 "{" AMASIA_NUMBERS_0_31 ", " AMASIA_NUMBERS_32_63 "}"
#define AMASIA_REGISTERS_96 \
  "{" AMASIA_NUMBERS_0_31 ", " AMASIA_NUMBERS_32_63 ", " AMASIA_NUMBERS_64_95 "}"
#define AMASIA_REGISTERS_128                                                  \
  "{" AMASIA_NUMBERS_0_31 ", " AMASIA_NUMBERS_32_63 ", " AMASIA_NUMBERS_64_95 \
  ", " AMASIA_NUMBERS_96_127 "}"

// The instruction's text. A and B: the operands' text; ON: that of the operand `accumulate`.
#define AMASIA_WGMMA_TEXT(INSTRUCTION, SUMS, A, B, ON, MODIFIERS)         \
  "{\n"                                                                   \
  ".reg .pred accumulate;\n"                                              \
  "setp.ne.b32 accumulate, " ON                                           \
  ", 0;\n"                                                                \
  "wgmma.mma_async.sync.aligned." INSTRUCTION " " AMASIA_REGISTERS_##SUMS \
      ", " A ", " B ", accumulate, 1, 1" MODIFIERS                        \
      ";\n"                                                               \
      "}\n"

// name(d, a, b, accumulate): d (64 x N, f32) = a (64 x K) * b (K x N), plus d if `accumulate`, N
// and K as in the name; a and b are descriptors. Thread t of the warpgroup holds in d[4 j + i] row
// 16 (t / 32) + t % 32 / 4 + 8 (i / 2), column 8 j + 2 (t % 4) + i % 2. SUMS: accumulators of a
// thread; the operands, as text, follow them.
// Either operand may be Major::mn:
#define AMASIA_WGMMA_ANY_MAJOR(NAME, INSTRUCTION, SUMS, A_AT, B_AT, ON, MAJOR_A, MAJOR_B) \
  template <Major A = Major::k, Major B = Major::k>                                       \
  __device__ void NAME(float(&d)[SUMS], std::uint64_t a, std::uint64_t b,                 \
                       bool accumulate = true) {                                          \
    AMASIA_WGMMA_ASM(                                                                     \
        AMASIA_WGMMA_TEXT(INSTRUCTION, SUMS, A_AT, B_AT, ON, ", " MAJOR_A ", " MAJOR_B)   \
        : AMASIA_ACCUMULATORS_##SUMS(d)                                                   \
        : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)), "n"(static_cast<int>(A)),    \
          "n"(static_cast<int>(B)));                                                      \
  }
AMASIA_WGMMA_ANY_MAJOR(m64n128k16, "m64n128k16.f32.bf16.bf16", 64, "%64", "%65", "%66", "%67",
                       "%68")
AMASIA_WGMMA_ANY_MAJOR(m64n192k16, "m64n192k16.f32.bf16.bf16", 96, "%96", "%97", "%98", "%99",
                       "%100")
AMASIA_WGMMA_ANY_MAJOR(m64n256k16, "m64n256k16.f32.bf16.bf16", 128, "%128", "%129", "%130", "%131",
                       "%132")

// Both operands are Major::k: other types have no other. Of e4m3 the tensor cores of sm_90 keep
// about 14 bits of a sum of products.
#define AMASIA_WGMMA_K_MAJOR(NAME, INSTRUCTION, SUMS, A_AT, B_AT, ON)            \
  __device__ inline void NAME(float(&d)[SUMS], std::uint64_t a, std::uint64_t b, \
                              bool accumulate = true) {                          \
    AMASIA_WGMMA_ASM(AMASIA_WGMMA_TEXT(INSTRUCTION, SUMS, A_AT, B_AT, ON, "")    \
                     : AMASIA_ACCUMULATORS_##SUMS(d)                             \
                     : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));       \
  }
AMASIA_WGMMA_K_MAJOR(m64n128k8, "m64n128k8.f32.tf32.tf32", 64, "%64", "%65", "%66")
AMASIA_WGMMA_K_MAJOR(m64n192k8, "m64n192k8.f32.tf32.tf32", 96, "%96", "%97", "%98")
AMASIA_WGMMA_K_MAJOR(m64n256k8, "m64n256k8.f32.tf32.tf32", 128, "%128", "%129", "%130")
AMASIA_WGMMA_K_MAJOR(m64n128k32, "m64n128k32.f32.e4m3.e4m3", 64, "%64", "%65", "%66")
AMASIA_WGMMA_K_MAJOR(m64n192k32, "m64n192k32.f32.e4m3.e4m3", 96, "%96", "%97", "%98")
AMASIA_WGMMA_K_MAJOR(m64n256k32, "m64n256k32.f32.e4m3.e4m3", 128, "%128", "%129", "%130")

// tf32 with a in registers: a[0..3] = A[g][t], A[g + 8][t], A[g][t + 4], A[g + 8][t + 4] of the
// warp's 16 rows, g = lane / 4 and t = lane % 4. They may change after wait() only. A_AT: the four.
#define AMASIA_WGMMA_FROM_REGISTERS(NAME, INSTRUCTION, SUMS, A_AT, B_AT, ON)           \
  __device__ inline void NAME(float(&d)[SUMS], const unsigned(&a)[4], std::uint64_t b, \
                              bool accumulate = true) {                                \
    AMASIA_WGMMA_ASM(AMASIA_WGMMA_TEXT(INSTRUCTION, SUMS, "{" A_AT "}", B_AT, ON, "")  \
                     : AMASIA_ACCUMULATORS_##SUMS(d)                                   \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b),             \
                       "r"(static_cast<int>(accumulate)));                             \
  }
AMASIA_WGMMA_FROM_REGISTERS(m64n256k8, "m64n256k8.f32.tf32.tf32", 128, "%128, %129, %130, %131",
                            "%132", "%133")
AMASIA_WGMMA_FROM_REGISTERS(m64n128k8, "m64n128k8.f32.tf32.tf32", 64, "%64, %65, %66, %67", "%68",
                            "%69")

}  // namespace amasia::wgmma
