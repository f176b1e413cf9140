// The tile of mode fp32: what gemm shares with lud, and how a tile of C is written.
#pragma once

#include "apps/common/fp32_tile.cuh"
#include "apps/gemm/gemm.hpp"
#include "apps/gemm/schedules.hpp"

namespace amasia::gemm {

template <int N>
struct Fp32Tile : matrix::Fp32Tile<N> {
  using Base = matrix::Fp32Tile<N>;
  using typename Base::Accumulator;
  static constexpr Mode mode = Mode::fp32;
  static constexpr Layout layout = Layout::nn;
  static constexpr TileSchedule schedule = N == 128 ? ffma_128x128 : ffma_128x256;

  /// The thread's elements of the tile at (tile_row, tile_column) to C. 32-bit arithmetic but for
  /// one pointer. Registers that live here are taken from the accumulators' loop; what the
  /// assembler then does to the banks costs a tenth of the speed.
  static __device__ __forceinline__ void store(const Accumulator& acc, const Problem& p,
                                               int tile_row, int tile_column, int thread) {
    const int first_row = tile_row + Base::row(thread, 0),
              first_column = tile_column + Base::column(thread, 0);
    const int rows_left = static_cast<int>(p.m) - first_row;
    const int columns_left = static_cast<int>(p.n) - first_column;
    float* c = &p.c.at(first_row, first_column);
    const std::int64_t stride = 8 * p.c.pitch;
#pragma unroll
    for (int i = 0; i < Base::rows_per_thread; ++i, c += stride) {
#pragma unroll
      for (int g = 0; g < Base::columns_per_thread / 4; ++g) {
        // A group that begins inside may end in the padding.
        if (8 * i < rows_left && 16 * g < columns_left) {
          const float* x = &acc.c[i][4 * g];
          *reinterpret_cast<float4*>(c + 16 * g) =
              make_float4(p.alpha * x[0], p.alpha * x[1], p.alpha * x[2], p.alpha * x[3]);
        }
      }
    }
  }
};

}  // namespace amasia::gemm
