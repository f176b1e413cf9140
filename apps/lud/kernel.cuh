// The computation of `iso` on data that is in shared memory already, written once for all
// strategies: the three steps of Rodinia's 16 x 16 tiles. The blocked schedule's is in diagonal.cuh
// and tiles.cuh.
#pragma once

#include <cstdint>

#include "apps/lud/lud.hpp"
#include "variants/device/tensor_map.hpp"

namespace amasia::lud {

inline constexpr int tile = 16;
inline constexpr int tile_elements = tile * tile;

/// Decomposes a tile of which `size` rows and columns are in the matrix; one warp, of which lanes
/// 0-15 work on a row and a column at a time (Rodinia's lud_diagonal).
__device__ inline void factor_tile(float* t, int size, int lane) {
  for (int k = 0; k + 1 < size; ++k) {
    if (lane > k && lane < size) {
      for (int j = 0; j < k; ++j) t[lane * tile + k] -= t[lane * tile + j] * t[j * tile + k];
      t[lane * tile + k] /= t[k * tile + k];
    }
    __syncwarp();
    if (lane > k && lane < size) {
      for (int j = 0; j <= k; ++j) {
        t[(k + 1) * tile + lane] -= t[(k + 1) * tile + j] * t[j * tile + lane];
      }
    }
    __syncwarp();
  }
}

/// Lanes 0-15: a column of the tile beside the diagonal becomes U; lanes 16-31: a row of the one
/// below becomes L (Rodinia's lud_perimeter).
__device__ inline void solve_perimeter(const float* diagonal, float* beside, float* below,
                                       int lane) {
  if (lane < tile) {
    for (int i = 1; i < tile; ++i) {
      for (int k = 0; k < i; ++k) {
        beside[i * tile + lane] -= diagonal[i * tile + k] * beside[k * tile + lane];
      }
    }
  } else {
    float* row = below + (lane - tile) * tile;
    for (int j = 0; j < tile; ++j) {
      for (int k = 0; k < j; ++k) row[j] -= row[k] * diagonal[k * tile + j];
      row[j] /= diagonal[j * tile + j];
    }
  }
}

/// What an element of the trailing matrix loses: a row of L times a column of U (lud_internal).
template <int FIRST = 0, int END = tile>
__device__ inline float inner_product(const float* below, const float* beside, int row, int column,
                                      float sum = 0) {
#pragma unroll
  for (int k = FIRST; k < END; ++k) sum += below[row * tile + k] * beside[k * tile + column];
  return sum;
}

}  // namespace amasia::lud
