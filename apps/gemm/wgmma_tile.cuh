// The computation of gemm on tensor cores by wgmma (sm_90a). Warpgroups multiply tiles that lie
// in shared memory as boxes of 128 bytes a row: brought by the engine (boxes.cuh), or by threads
// that put their pieces where a box would have them (staged.cuh). A slice is being
// multiplied while the next one is started, so a stage is free a slice later than in the other
// schedules.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <type_traits>

#include "apps/common/fp32_tile.cuh"
#include "apps/common/tf32x3_tile.cuh"
#include "apps/gemm/fragments.hpp"
#include "apps/gemm/gemm.hpp"
#include "apps/gemm/schedules.hpp"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/mma.cuh"
#include "variants/ptx/shared_memory.cuh"
#include "variants/ptx/wgmma.cuh"

namespace amasia::gemm {

/// What a thread of a warpgroup sums: `BLOCKS` products of 64 rows each and N columns.
template <int BLOCKS, int N>
struct WgmmaAccumulator : matrix::Accumulator<BLOCKS, N / 2> {
  __device__ void hold() {
#pragma unroll
    for (auto& block : this->c) wgmma::hold(block);
  }
};

/// Of 16 neighbouring columns of a row of C, of which wgmma leaves every lane of four two of the
/// `first` eight and two of the `other`: four, of the first in even lanes and of the others in odd.
__device__ inline float4 four_columns(float2 first, float2 other, bool odd) {
  const float2 mine = odd ? other : first, theirs = odd ? first : other;
  const float x = __shfl_xor_sync(0xffffffffu, theirs.x, 1);
  const float y = __shfl_xor_sync(0xffffffffu, theirs.y, 1);
  return odd ? make_float4(x, y, mine.x, mine.y) : make_float4(mine.x, mine.y, x, y);
}

/// An M x N tile of C by WARPGROUPS warpgroups, each of which has as many rows of it, as blocks of
/// 64. A slice is 128 bytes deep; a row of A has these 128 bytes. In layout tn a column of B has
/// them as well, and wgmma takes both as they are (Major::k), in any mode; in layout nn B comes as
/// boxes of 64 columns, which it takes in bf16 (Major::mn).
template <Mode MODE, Layout LAYOUT, int M, int N, int WARPGROUPS>
struct WgmmaTile {
  static constexpr Mode mode = MODE;
  static constexpr Layout layout = LAYOUT;
  static_assert(layout == Layout::tn || mode == Mode::bf16);
  static constexpr bool asynchronous = true, read_at_once = false;
  static constexpr int blocks = M / WARPGROUPS / 64;
  static_assert(blocks * WARPGROUPS * 64 == M && N % 64 == 0);
  using Element = std::conditional_t<MODE == Mode::tf32, float, __nv_bfloat16>;  // e4m3 in pairs
  using Accumulator = WgmmaAccumulator<blocks, N>;
  struct Fragments {};
  static constexpr int m = M, n = N, k = 128 / element_bytes(MODE);
  static constexpr int threads = 128 * WARPGROUPS, blocks_per_sm = 1;
  static constexpr int b_row_bytes = layout == Layout::tn ? 128 : n * 2;
  static constexpr int a_bytes = m * 128, b_bytes = n * 128;
  static constexpr int slice_bytes = a_bytes + b_bytes;
  static constexpr int b_box_columns = 64;  // layout nn
  static constexpr Swizzle b_swizzle = Swizzle::bytes128;

  /// c += the product of 64 rows of A and N columns of B, 32 bytes deep.
  static __device__ __forceinline__ void multiply_add(float (&c)[N / 2], std::uint64_t a,
                                                      std::uint64_t b) {
    using namespace wgmma;
    static_assert(N == 256 || N == 128 || (N == 192 && mode != Mode::tf32));
    if constexpr (mode == Mode::bf16) {
      constexpr Major of_b = layout == Layout::tn ? Major::k : Major::mn;
      if constexpr (N == 256) m64n256k16<Major::k, of_b>(c, a, b);
      if constexpr (N == 192) m64n192k16<Major::k, of_b>(c, a, b);
      if constexpr (N == 128) m64n128k16<Major::k, of_b>(c, a, b);
    } else if constexpr (mode == Mode::tf32) {
      if constexpr (N == 256) m64n256k8(c, a, b);
      if constexpr (N == 128) m64n128k8(c, a, b);
    } else {
      if constexpr (N == 256) m64n256k32(c, a, b);
      if constexpr (N == 192) m64n192k32(c, a, b);
      if constexpr (N == 128) m64n128k32(c, a, b);
    }
  }

  /// Starts acc += A B of one slice, calls meanwhile() and waits for the slice before it.
  template <int PARITY, class Meanwhile>
  static __device__ __forceinline__ void multiply(Accumulator& acc, Fragments (&)[2],
                                                  const unsigned char* a, const unsigned char* b,
                                                  int thread, Meanwhile&& meanwhile) {
    using namespace wgmma;
    const std::uint64_t left = k_major(a + thread / 128 * (blocks * 64 * 128));
    const std::uint64_t right = layout == Layout::tn ? k_major(b) : mn_major(b, 128 * k);
    fence();
#pragma unroll
    for (int step = 0; step < 4; ++step) {
      const std::uint64_t y = advance(right, layout == Layout::tn ? 32 * step : 2048 * step);
#pragma unroll
      for (int block = 0; block < blocks; ++block) {
        const std::uint64_t x = advance(left, 64 * 128 * block + 32 * step);
        multiply_add(acc.c[block], x, y);
      }
    }
    commit();
    meanwhile();
    wgmma::wait<1>();
  }

  /// Whether lanes exchange columns so that each stores four instead of two. Where a block stores
  /// and nobody multiplies meanwhile, as its warpgroups compute a tile together or it has but one,
  /// that takes a microsecond less; by turns it disturbs the other warpgroup (README.md).
  static constexpr bool exchanged = WARPGROUPS == 2 || M == 64;

  static __device__ __forceinline__ void store(const Accumulator& acc, const Problem& p,
                                               int tile_row, int tile_column, int thread) {
    const bool odd = thread % 2 == 1;
    const int first_row =
        tile_row + thread / 128 * (blocks * 64) + thread % 128 / 32 * 16 + thread % 32 / 4;
    const int first_column =
        tile_column + (exchanged ? (odd ? 8 : 0) + thread % 4 / 2 * 4 : thread % 4 * 2);
    const int columns_left = static_cast<int>(p.n) - first_column;
#pragma unroll
    for (int half = 0; half < 2 * blocks; ++half) {
      const int row = first_row + half / 2 * 64 + half % 2 * 8;
      const bool inside = row < p.m;
      if (!exchanged && !inside) break;  // all lanes exchange, those below C, too
      float* const c = &p.c.at(row, first_column);
#pragma unroll
      for (int j = 0; j < n / 8; j += exchanged ? 2 : 1) {
        // Two or four that begin inside may end in the padding.
        const bool stores = inside && 8 * j < columns_left;
        const float* x = &acc.c[half / 2][4 * j + half % 2 * 2];
        const float2 two = make_float2(p.alpha * x[0], p.alpha * x[1]);
        if constexpr (exchanged) {
          const float2 next = make_float2(p.alpha * x[4], p.alpha * x[5]);
          const float4 four = four_columns(two, next, odd);
          if (stores) *reinterpret_cast<float4*>(c + 8 * j) = four;
        } else if (stores) {
          *reinterpret_cast<float2*>(c + 8 * j) = two;
        }
      }
    }
  }
};

struct WgmmaBf16Tile : WgmmaTile<Mode::bf16, Layout::nn, 128, 256, 2> {
  static constexpr TileSchedule schedule = bf16_wgmma_128x256;
  static constexpr int chunks = 3;  // shares of a slice that threads bring: of A, or of B
};

constexpr TileSchedule k_major_schedule(Mode mode) {
  if (mode == Mode::tf32) return tf32_tn_wgmma_128x256;
  return mode == Mode::bf16 ? bf16_tn_wgmma_128x256 : e4m3_wgmma_128x256;
}

template <Mode MODE>
struct WgmmaKMajorTile : WgmmaTile<MODE, Layout::tn, 128, 256, 2> {
  static constexpr TileSchedule schedule = k_major_schedule(MODE);
  static constexpr int chunks = 3;
};

/// Mode tf32x3, a 128 x N tile by two warpgroups, 64 x N each (tf32x3_tile.cuh). Rows of the
/// operands are in groups of eight, hi before lo, so a slice has twice the rows.
template <int N>
struct WgmmaTf32x3 : WgmmaTile<Mode::tf32, Layout::tn, 128, N, 2> {
  using Base = WgmmaTile<Mode::tf32, Layout::tn, 128, N, 2>;
  using Slice = matrix::Tf32x3Slice<N>;
  static constexpr Mode mode = Mode::tf32x3;
  static constexpr bool read_at_once = true;
  static constexpr int a_bytes = Slice::a_bytes, b_bytes = Slice::b_bytes;
  static constexpr int slice_bytes = a_bytes + b_bytes;
  static_assert(Base::blocks == 1 && a_bytes == 2 * Base::a_bytes && b_bytes == 2 * Base::b_bytes);

  struct Accumulator : Base::Accumulator {
    float sum[N / 2];
    __device__ void clear() {
      Base::Accumulator::clear();
#pragma unroll
      for (float& x : sum) x = 0;
    }
  };

  template <int PARITY, class Meanwhile>
  static __device__ __forceinline__ void multiply(Accumulator& acc, typename Base::Fragments (&)[2],
                                                  const unsigned char* a, const unsigned char* b,
                                                  int thread, Meanwhile&& meanwhile) {
    Slice::multiply(acc.c[0], acc.sum, a, b, thread / 128, meanwhile);
  }

  static __device__ __forceinline__ void store(const Accumulator& acc, const Problem& p,
                                               int tile_row, int tile_column, int thread) {
    typename Base::Accumulator total;
#pragma unroll
    for (int i = 0; i < N / 2; ++i) total.c[0][i] = acc.sum[i];
    Base::store(total, p, tile_row, tile_column, thread);
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

/// tf32, an M x 64 WARPGROUPS tile of C. wgmma takes tf32 from shared memory only where k runs
/// along the rows, which is so for A and not for B. The tile is therefore computed transposed: C^T
/// = B^T A^T, with B^T from registers, where a thread can load it across (fragments.hpp), and A^T,
/// which is A as it lies. A warpgroup has 64 columns of the tile.
template <int M, int WARPGROUPS>
struct WgmmaTf32 {
  static constexpr Mode mode = Mode::tf32;
  static constexpr Layout layout = Layout::nn;
  static constexpr bool asynchronous = true, read_at_once = false;
  using Element = float;
  using Accumulator = WgmmaAccumulator<1, M>;
  static constexpr int m = M, n = 64 * WARPGROUPS, k = 32, steps = k / 8;
  struct Fragments {
    unsigned b[steps][4];
  };
  static constexpr int threads = 128 * WARPGROUPS, blocks_per_sm = 1;
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
    for (int step = 0; step < steps; ++step) {
      if constexpr (M == 256) {
        m64n256k8(acc.c[0], f[step], advance(right, 32 * step));
      } else {
        static_assert(M == 128);
        m64n128k8(acc.c[0], f[step], advance(right, 32 * step));
      }
    }
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
          store_pair(c, p.alpha * acc.c[0][4 * j + i], p.alpha * acc.c[0][4 * j + 2 + i]);
        }
      }
    }
  }
};

struct WgmmaTf32Tile : WgmmaTf32<256, 2> {
  static constexpr TileSchedule schedule = tf32_wgmma_256x128;
  static constexpr int chunks = 3;  // shares of a slice that threads bring: of A, or of B
};

}  // namespace amasia::gemm
