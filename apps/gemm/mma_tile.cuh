// The computation of gemm on tensor cores by mma.sync (sm_80), for the strategies that bring slices
// by threads: baseline, register_bypass, overlap.
#pragma once

#include "apps/gemm/gemm.hpp"
#include "apps/gemm/persistent.cuh"
#include "apps/gemm/schedules.hpp"
#include "variants/device/tensor_map.hpp"
#include "variants/ptx/mma.cuh"

namespace amasia::gemm {

constexpr TileSchedule mma_schedule(Mode mode, int n, int warp_n) {
  if (mode == Mode::tf32) {
    if (n == 256) return tf32_mma_128x256;
    return warp_n == 64 ? tf32_mma_128x128 : tf32_mma_128x128_8_warps;
  }
  if (n == 256) return bf16_mma_128x256;
  return warp_n == 64 ? bf16_mma_128x128 : bf16_mma_128x128_8_warps;
}

/// A 128 x N tile of C from slices of 128 bytes of k: A as in Fp32Tile, rows of 128 bytes with
/// their chunks permuted; B in rows of N elements, its chunks permuted such that the lanes that
/// read one fragment together touch all banks once: bf16 reads eight rows of a chunk (ldmatrix),
/// tf32 four rows of two chunks. A warp has 64 x 64 elements of
/// C, or 64 x 32 where registers are wanted for something else.
template <Mode MODE, int N, int WARP_N = 64>
struct MmaTile {
  static constexpr Mode mode = MODE;
  static constexpr Layout layout = Layout::nn;
  static constexpr TileSchedule schedule = mma_schedule(MODE, N, WARP_N);
  static constexpr bool asynchronous = false;
  static constexpr int size = element_bytes(MODE);
  static constexpr int m = 128, n = N, k = 128 / size;
  static constexpr int warp_n = WARP_N, warps_across = n / warp_n;
  static constexpr int threads = m / 64 * warps_across * 32;
  static constexpr int blocks_per_sm = threads == 256 ? 1 : 2;
  static constexpr int a_bytes = m * 128, b_row_bytes = n * size, b_bytes = k * b_row_bytes;
  static constexpr int slice_bytes = a_bytes + b_bytes;
  static constexpr int chunks = 8;
  static constexpr int steps = chunks / 2;  // 32 bytes of k each, an instruction's
  static constexpr int step_rows = k / steps;

  AMASIA_HD static constexpr int b_chunk(int row, int chunk) {
    return MODE == Mode::bf16 ? chunk ^ (row & 7) : chunk ^ (row & 3) << 1;
  }
  AMASIA_HD static constexpr int warp_row(int thread) { return thread / 32 / warps_across * 64; }
  AMASIA_HD static constexpr int warp_column(int thread) {
    return thread / 32 % warps_across * warp_n;
  }

  struct Accumulator {
    float c[4][warp_n / 8][4];  // 16 x 8 elements each (mma.cuh)
    __device__ void clear() {
#pragma unroll
      for (auto& row : c) {
#pragma unroll
        for (auto& tile : row) tile[0] = tile[1] = tile[2] = tile[3] = 0;
      }
    }
  };
  struct Left {
    unsigned a;
    __device__ Left(unsigned address, int) : a(address) {}
  };
  struct Fragments {
    unsigned a[4][4], b[warp_n / 8][2];
  };

  static __device__ __forceinline__ void load(Fragments& f, unsigned a, unsigned b, int thread,
                                              int step) {
    const int lane = thread % 32;
    const int row = warp_row(thread) + lane % 16, chunk = 2 * step + lane / 16;
    const unsigned line = a + static_cast<unsigned>(row * 128 + 16 * swizzled_chunk(row, chunk));
#pragma unroll
    for (int i = 0; i < 4; ++i)
      mma::load_matrices(f.a[i], line + static_cast<unsigned>(i * 16 * 128));
    if constexpr (MODE == Mode::bf16) {
      const int p = step * step_rows + lane % 16;
#pragma unroll
      for (int j = 0; j < warp_n / 16; ++j) {
        const int of_row = warp_column(thread) / 8 + 2 * j + lane / 16;
        unsigned word[4];
        mma::load_matrices_transposed(
            word, b + static_cast<unsigned>(p * b_row_bytes + 16 * b_chunk(p, of_row)));
        f.b[2 * j][0] = word[0], f.b[2 * j][1] = word[1];
        f.b[2 * j + 1][0] = word[2], f.b[2 * j + 1][1] = word[3];
      }
    } else {
      const int p = step * step_rows + lane % 4;
#pragma unroll
      for (int j = 0; j < warp_n / 8; ++j) {
        const int column = warp_column(thread) + 8 * j + lane / 4;
        const unsigned word =
            b +
            static_cast<unsigned>(p * b_row_bytes + 16 * b_chunk(p, column / 4) + column % 4 * 4);
        f.b[j][0] = mma::load_word(word);
        f.b[j][1] = mma::load_word(word + 4 * b_row_bytes);
      }
    }
  }

  /// acc += A B of one slice; the fragments of the next step are on their way while one is
  /// multiplied.
  template <class Between>
  static __device__ __forceinline__ void multiply(Accumulator& acc, Left left, unsigned b,
                                                  int thread, Between&& between) {
    Fragments f[2];
    load(f[0], left.a, b, thread, 0);
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      between(2 * step);
      if (step + 1 < steps) load(f[(step + 1) % 2], left.a, b, thread, step + 1);
      between(2 * step + 1);
#pragma unroll
      for (int j = 0; j < warp_n / 8; ++j) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if constexpr (MODE == Mode::bf16) {
            mma::m16n8k16(acc.c[i][j], f[step % 2].a[i], f[step % 2].b[j]);
          } else {
            mma::m16n8k8(acc.c[i][j], f[step % 2].a[i], f[step % 2].b[j]);
          }
        }
      }
    }
  }

  static __device__ __forceinline__ void store(const Accumulator& acc, const Problem& p,
                                               int tile_row, int tile_column, int thread) {
    const int lane = thread % 32;
    const int first_row = tile_row + warp_row(thread) + lane / 4;
    const int first_column = tile_column + warp_column(thread) + lane % 4 * 2;
    const int rows_left = static_cast<int>(p.m) - first_row;
    const int columns_left = static_cast<int>(p.n) - first_column;
    float* c = &p.c.at(first_row, first_column);
    const std::int64_t stride = 8 * p.c.pitch;
#pragma unroll
    for (int i = 0; i < 8; ++i, c += stride) {
#pragma unroll
      for (int j = 0; j < warp_n / 8; ++j) {
        // A pair that begins inside may end in the padding.
        if (8 * i < rows_left && 8 * j < columns_left) {
          const float* x = &acc.c[i / 2][j][i % 2 * 2];
          *reinterpret_cast<float2*>(c + 8 * j) = make_float2(p.alpha * x[0], p.alpha * x[1]);
        }
      }
    }
  }
};

namespace {

/// Stages of a mover for the tiles of mma.sync.
struct MmaStages {
  int of_4_warps, of_8_warps, of_256_columns;
};
template <template <class, class> class Mover>
void add_mma(std::vector<ConfigOf<Problem>>& configs, const MmaStages& stages) {
  const auto add = [&](auto tile, int count) {
    add_both<Mover<decltype(tile), SharedWalk>>(configs, count);
  };
  add(MmaTile<Mode::tf32, 128>{}, stages.of_4_warps);
  add(MmaTile<Mode::tf32, 128, 32>{}, stages.of_8_warps);
  add(MmaTile<Mode::tf32, 256>{}, stages.of_256_columns);
  add(MmaTile<Mode::bf16, 128>{}, stages.of_4_warps);
  add(MmaTile<Mode::bf16, 128, 32>{}, stages.of_8_warps);
  add(MmaTile<Mode::bf16, 256>{}, stages.of_256_columns);
}

}  // namespace

}  // namespace amasia::gemm
