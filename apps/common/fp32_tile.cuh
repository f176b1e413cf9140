// A tile of a matrix product in fp32, from slices that are in shared memory: what gemm and the
// updates of lud have in common.
#pragma once

#include "variants/geometry/box.hpp"
#include "variants/host_device.hpp"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::matrix {

using async::load_float4;

/// A thread's sums.
template <int ROWS, int COLUMNS>
struct Accumulator {
  float c[ROWS][COLUMNS];
  __device__ void clear() {
#pragma unroll
    for (auto& line : c) {
#pragma unroll
      for (float& x : line) x = 0;
    }
  }
};

/// A 128 x N tile of C from slices of A (128 x 32) and B (32 x N), neither of them transposed. A
/// row of A is 128 bytes, its 16-byte chunks permuted (swizzled_chunk), so that four columns can be
/// read at once without bank conflicts. B is dense. One warp has 64 x 64 elements: 8 lanes down, 4
/// across, 8 x 16 elements each. Six loads of 16 bytes feed 128 FFMA.
template <int N>
struct Fp32Tile {
  static constexpr bool asynchronous = false;
  using Element = float;
  static constexpr int m = 128, n = N, k = 32;
  static constexpr int warps_across = n / 64;
  static constexpr int threads = m / 64 * warps_across * 32;
  static constexpr int blocks_per_sm = n == 256 ? 1 : 2;
  static constexpr int rows_per_thread = 8, columns_per_thread = 16;
  static constexpr int a_bytes = m * k * 4, b_bytes = k * n * 4;
  static constexpr int slice_bytes = a_bytes + b_bytes;
  static constexpr int b_row_bytes = n * 4;
  static constexpr int b_box_columns = n;  // as boxes B is not permuted either
  static constexpr Swizzle b_swizzle = Swizzle::none;
  static constexpr int chunks = k / 4;  // of four columns of A
  static_assert(N == 128 || N == 256);

  /// Where the 16-byte chunk `chunk` of row `row` of B lies in that row.
  AMASIA_HD static constexpr int b_chunk(int, int chunk) { return chunk; }

  /// Row of a thread's i-th row: the 8 lanes that read at once lie in different eighths of the
  /// banks.
  AMASIA_HD static constexpr int row(int thread, int i) {
    return thread / 32 / warps_across * 64 + 8 * i + thread % 8;
  }
  /// First column of a thread's g-th group of four.
  AMASIA_HD static constexpr int column(int thread, int g) {
    return thread / 32 % warps_across * 64 + 16 * g + thread % 32 / 8 * 4;
  }

  using Accumulator = matrix::Accumulator<rows_per_thread, columns_per_thread>;

  /// Rows of A in a slice that the block shares.
  struct Left {
    unsigned first, swizzle;
    __device__ Left(unsigned a, int thread)
        : first(a + static_cast<unsigned>(row(thread, 0) * k * 4)),
          swizzle(static_cast<unsigned>(thread % 8) << 4) {}
    __device__ void before(int) const {}
    /// Four columns of the thread's i-th row.
    __device__ float4 load(int i, int chunk) const {
      return load_float4(first + ((static_cast<unsigned>(chunk % chunks) << 4) ^ swizzle) +
                         static_cast<unsigned>(i * 8 * k * 4));
    }
  };

  /// acc += A B of one slice. While a chunk is multiplied, `left` hands out the next one, two rows
  /// for each of its four columns; between(chunk) is what a mover does meanwhile, behind BEHIND
  /// rows of the first column. A load that starts beside the chunk's first ones may share one of
  /// the six scoreboards with them, and is then waited for with them. The order of the FFMA is
  /// written out, back and forth over the columns, so that one operand is always in the reuse cache
  /// of the register file: most of what FFMA lose to bank conflicts (README).
  template <int BEHIND = 0, class Rows, class Between>
  static __device__ __forceinline__ void multiply(Accumulator& acc, Rows&& left, unsigned b,
                                                  int thread, Between&& between) {
    constexpr int tm = rows_per_thread, tn = columns_per_thread;
    float a[2][tm][4];
    float line[tn];
    const unsigned b0 = b + static_cast<unsigned>(column(thread, 0) * 4);
    const auto fetch = [&](int buffer, int i, int chunk) {
      const float4 v = left.load(i, chunk);
      a[buffer][i][0] = v.x, a[buffer][i][1] = v.y, a[buffer][i][2] = v.z, a[buffer][i][3] = v.w;
    };
    left.before(0);
#pragma unroll
    for (int i = 0; i < tm; ++i) fetch(0, i, 0);
#pragma unroll 2
    for (int chunk = 0; chunk < chunks; ++chunk) {
      if (BEHIND == 0) between(chunk);
      const int next = chunk + 1;  // after the last one whatever `left` likes: it is not used
      left.before(next);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
#pragma unroll
        for (int g = 0; g < tn / 4; ++g) {
          const float4 v =
              load_float4(b0 + static_cast<unsigned>((4 * chunk + q) * b_row_bytes + 64 * g));
          line[4 * g] = v.x, line[4 * g + 1] = v.y, line[4 * g + 2] = v.z, line[4 * g + 3] = v.w;
        }
#pragma unroll
        for (int i = 0; i < tm; ++i) {
          if (BEHIND > 0 && q == 0 && i == BEHIND) between(chunk);
          if (i == 5 || i == 6) fetch((chunk + 1) & 1, 2 * q + i - 5, next);
#pragma unroll
          for (int step = 0; step < tn; ++step) {
            const int j = i % 2 == 0 ? step : tn - 1 - step;
            acc.c[i][j] = fmaf(a[chunk & 1][i][q], line[j], acc.c[i][j]);
          }
        }
      }
    }
  }
};

}  // namespace amasia::matrix
