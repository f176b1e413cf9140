// The computation of gemm on tensor cores by wgmma (sm_90a). Two warpgroups multiply tiles that lie
// in shared memory as boxes of 128 bytes a row: brought by the engine (boxes.cuh), or by threads
// that put their pieces where a box would have them (staged.cuh). A slice is being
// multiplied while the next one is started, so a stage is free a slice later than in the other
// schedules.
#pragma once

#include <cuda_bf16.h>

#include "apps/gemm/fragments.hpp"
#include "apps/gemm/gemm.hpp"
#include "apps/gemm/schedules.hpp"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/shared_memory.cuh"
#include "variants/ptx/wgmma.cuh"

namespace amasia::gemm {

struct WgmmaAccumulator {
  float c[128];
  __device__ void clear() {
#pragma unroll
    for (float& x : c) x = 0;
  }
};

/// bf16, a 128 x 256 tile of C: a warpgroup has 64 rows of it. A slice is 64 deep; a row of A is
/// 128 bytes, B comes as boxes of 64 columns, which wgmma takes as they are (Major::mn).
struct WgmmaBf16Tile {
  static constexpr Mode mode = Mode::bf16;
  static constexpr TileSchedule schedule = bf16_wgmma_128x256;
  static constexpr bool asynchronous = true;
  using Element = __nv_bfloat16;
  using Accumulator = WgmmaAccumulator;
  struct Fragments {};
  static constexpr int m = 128, n = 256, k = 64;
  static constexpr int threads = 256, blocks_per_sm = 1;
  static constexpr int chunks = 3;  // shares of a slice that threads bring: of A, or of B
  static constexpr int a_bytes = m * 128, b_row_bytes = n * 2, b_bytes = k * b_row_bytes;
  static constexpr int slice_bytes = a_bytes + b_bytes;
  static constexpr int b_box_columns = 64;
  static constexpr Swizzle b_swizzle = Swizzle::bytes128;

  /// Starts acc += A B of one slice, calls meanwhile() and waits for the slice before it.
  template <int PARITY, class Meanwhile>
  static __device__ __forceinline__ void multiply(Accumulator& acc, Fragments (&)[2],
                                                  const unsigned char* a, const unsigned char* b,
                                                  int thread, Meanwhile&& meanwhile) {
    using namespace wgmma;
    const std::uint64_t left = k_major(a + thread / 128 * 64 * 128);
    const std::uint64_t right = mn_major(b, 128 * k);
    fence();
#pragma unroll
    for (int step = 0; step < k / 16; ++step) {
      m64n256k16<Major::k, Major::mn>(acc.c, advance(left, 32 * step), advance(right, 2048 * step));
    }
    commit();
    meanwhile();
    wgmma::wait<1>();
  }

  static __device__ __forceinline__ void store(const Accumulator& acc, const Problem& p,
                                               int tile_row, int tile_column, int thread) {
    const int first_row = tile_row + thread / 32 * 16 + thread % 32 / 4;
    const int first_column = tile_column + thread % 4 * 2;
    const int columns_left = static_cast<int>(p.n) - first_column;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = first_row + 8 * half;
      if (row >= p.m) break;
      float* const c = &p.c.at(row, first_column);
#pragma unroll
      for (int j = 0; j < n / 8; ++j) {
        // A pair that begins inside may end in the padding.
        if (8 * j < columns_left) {
          const float* x = &acc.c[4 * j + 2 * half];
          *reinterpret_cast<float2*>(c + 8 * j) = make_float2(p.alpha * x[0], p.alpha * x[1]);
        }
      }
    }
  }
};

/// Two words from a shared address, a multiple of 8.
__device__ inline void load_pair(unsigned& x, unsigned& y, unsigned shared) {
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];\n" : "=r"(x), "=r"(y) : "r"(shared) : "memory");
}

/// Stores x and y as one: the compiler splits most stores of a float2 of accumulators.
__device__ inline void store_pair(float* c, float x, float y) {
  asm volatile("st.global.v2.f32 [%0], {%1, %2};\n" ::"l"(__cvta_generic_to_global(c)), "f"(x),
               "f"(y)
               : "memory");
}

/// tf32, a 256 x 128 tile of C. wgmma takes tf32 from shared memory only where k runs along the
/// rows, which is so for A and not for B. The tile is therefore computed transposed: C^T = B^T A^T,
/// with B^T from registers, where a thread can load it across (fragments.hpp), and A^T, which is A
/// as it lies. A warpgroup has 64 columns of the tile.
struct WgmmaTf32Tile {
  static constexpr Mode mode = Mode::tf32;
  static constexpr TileSchedule schedule = tf32_wgmma_256x128;
  static constexpr bool asynchronous = true;
  using Element = float;
  using Accumulator = WgmmaAccumulator;
  static constexpr int m = 256, n = 128, k = 32, steps = k / 8;
  struct Fragments {
    unsigned b[steps][4];
  };
  static constexpr int threads = 256, blocks_per_sm = 1;
  static constexpr int chunks = 3;  // shares of a slice that threads bring: of A, or of B
  static constexpr int a_bytes = m * 128, b_row_bytes = n * 4, b_bytes = k * b_row_bytes;
  static constexpr int slice_bytes = a_bytes + b_bytes;
  static constexpr int b_box_columns = 32;
  static constexpr Swizzle b_swizzle = Swizzle::bytes128;

  /// As above. The fragments of the slice before are still being read, hence two sets of them.
  template <int PARITY, class Meanwhile>
  static __device__ __forceinline__ void multiply(Accumulator& acc, Fragments (&fragments)[2],
                                                  const unsigned char* a, const unsigned char* b,
                                                  int thread, Meanwhile&& meanwhile) {
    using namespace wgmma;
    unsigned(&f)[steps][4] = fragments[PARITY].b;
    const unsigned from = async::shared_address(b);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = 8 * step + 4 * half + thread % 4;
        load_pair(f[step][2 * half], f[step][2 * half + 1],
                  from + static_cast<unsigned>(pair_place(thread, row, k)));
      }
    }
    const std::uint64_t right = k_major(a);
    fence();
#pragma unroll
    for (int step = 0; step < steps; ++step) m64n256k8(acc.c, f[step], advance(right, 32 * step));
    commit();
    meanwhile();
    wgmma::wait<1>();
    // Those of the slice before may change from here on, not earlier.
#pragma unroll
    for (auto& step : fragments[1 - PARITY].b) hold(step);
  }

  static __device__ __forceinline__ void store(const Accumulator& acc, const Problem& p,
                                               int tile_row, int tile_column, int thread) {
    const int first_row = tile_row + thread % 4 * 2;
    const int first_column = tile_column + pair_column(thread);
    if (first_column >= p.n) return;
    const int rows_left = static_cast<int>(p.m) - first_row;
    float* c = &p.c.at(first_row, first_column);
    // Four lanes write 32 bytes of a row together. A pair that begins inside may end in the
    // padding.
#pragma unroll
    for (int j = 0; j < m / 8; ++j, c += 6 * p.c.pitch) {
#pragma unroll
      for (int i = 0; i < 2; ++i, c += p.c.pitch) {
        if (8 * j + i < rows_left) {
          store_pair(c, p.alpha * acc.c[4 * j + i], p.alpha * acc.c[4 * j + 2 + i]);
        }
      }
    }
  }
};

}  // namespace amasia::gemm
