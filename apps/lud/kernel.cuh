// The computation of lud on data that is in shared memory already, written once for all strategies:
// the decomposition of a diagonal block and its inverses, and the three steps of Rodinia's 16 x 16
// tiles. The inner products are in tiles.cuh.
#pragma once

#include <cstdint>

#include "apps/lud/lud.hpp"
#include "variants/tensor_map.hpp"

namespace amasia::lud {

/// Four elements of the result: the old ones less the product.
__device__ __forceinline__ float4 less(float4 old, const float* c) {
  return make_float4(old.x - c[0], old.y - c[1], old.z - c[2], old.w - c[3]);
}

// --- the diagonal block

/// Rows of the block in shared memory are four floats longer than the block, so that a column of
/// 16-byte chunks touches all banks.
inline constexpr int block_pitch = panel_width + 4;
inline constexpr int sub =
    32;  // order of the sub-blocks: one warp holds one, a row or column per lane
inline constexpr int subs = panel_width / sub;
inline constexpr int sub_pitch = sub + 4;
inline constexpr int block_threads = 256;

struct DiagonalBlock {
  float lu[panel_width * block_pitch];  // (128, 132)
  float lower[subs][sub * sub_pitch];   // inverses of the diagonal sub-blocks of L
  float upper[subs][sub * sub_pitch];   // and of U
  float transposed[sub * sub_pitch];    // the current diagonal sub-block, columns as rows
  float reciprocal[panel_width];        // of the pivots
};

// The loops below are written in the order in which they should run: what a step needs is loaded
// before the arithmetic of the step before (options.cmake).

/// 1 / x to within a rounding, without the branch of the division and without scaling: for |x| from
/// 2^-126 to 2^126.
__device__ inline float reciprocal_of(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return fmaf(r, fmaf(-x, r, 1.0f), r);
}

/// Decomposes one diagonal sub-block; one warp, a row per lane. Pivot rows travel by shuffle. The
/// next pivot goes first, and its way is kept short: its product is formed while the reciprocal is.
__device__ inline void factor_sub_block(DiagonalBlock& d, int base, int lane) {
  float row[sub];
  float* const line = d.lu + (base + lane) * block_pitch + base;
#pragma unroll
  for (int j = 0; j < sub; j += 4) {
    const float4 v = *reinterpret_cast<const float4*>(line + j);
    row[j] = v.x, row[j + 1] = v.y, row[j + 2] = v.z, row[j + 3] = v.w;
  }
  float pivot = __shfl_sync(~0u, row[0], 0);
#pragma unroll
  for (int k = 0; k < sub; ++k) {
    const float reciprocal = reciprocal_of(pivot);
    float beside[sub];
#pragma unroll
    for (int j = k + 1; j < sub; ++j) beside[j] = __shfl_sync(~0u, row[j], k);
    if (lane == k) d.reciprocal[base + k] = reciprocal;
    const float below = lane > k ? row[k] : 0.0f;
    if (k + 1 < sub) {
      row[k + 1] -= below * beside[k + 1] * reciprocal;
      pivot = __shfl_sync(~0u, row[k + 1], k + 1);
    }
    const float multiplier = below * reciprocal;
    if (lane > k) row[k] = multiplier;
#pragma unroll
    for (int j = k + 2; j < sub; ++j) row[j] -= multiplier * beside[j];
  }
#pragma unroll
  for (int j = 0; j < sub; j += 4) {
    *reinterpret_cast<float4*>(line + j) = make_float4(row[j], row[j + 1], row[j + 2], row[j + 3]);
  }
#pragma unroll
  for (int j = 0; j < sub; ++j) d.transposed[j * sub_pitch + lane] = row[j];
}

/// Inverts the diagonal sub-block that was decomposed last; one warp for L and one for U, a column
/// of the inverse per lane.
template <bool LOWER>
__device__ inline void invert_sub_block(DiagonalBlock& d, int index, int lane) {
  float x[sub];
#pragma unroll
  for (int i = 0; i < sub; ++i) x[i] = i == lane ? 1.0f : 0.0f;
  float column[2][sub];  // of L or U; this step's and the next one's
  const auto load = [&](int step) {
    const int k = LOWER ? step : sub - 1 - step;
#pragma unroll
    for (int i = 0; i < sub; i += 4) {
      if (LOWER ? i + 3 <= k : i >= k) continue;
      const float4 v = *reinterpret_cast<const float4*>(d.transposed + k * sub_pitch + i);
      float* const to = column[step % 2] + i;
      to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
    }
  };
  load(0);
#pragma unroll
  for (int step = 0; step < sub; ++step) {
    const int k = LOWER ? step : sub - 1 - step;
    if (step + 1 < sub) load(step + 1);
    if (!LOWER) x[k] *= d.reciprocal[index * sub + k];
#pragma unroll
    for (int n = 1; n < sub - step; ++n) {
      const int i = LOWER ? k + n : k - n;
      x[i] -= column[step % 2][i] * x[k];
    }
  }
  float* to = LOWER ? d.lower[index] : d.upper[index];
#pragma unroll
  for (int i = 0; i < sub; ++i) to[i * sub_pitch + lane] = x[i];
}

/// The product of (ROWS x 32) and (32 x 32): one warp, lane `lane` has rows lane / 4 + 8 i and
/// columns 4 (lane % 4) + 16 g ... + 3.
template <int ROWS>
struct WarpProduct {
  static constexpr int per_lane = ROWS / 8;
  float c[per_lane][8] = {};

  __device__ void add(const float* a, int a_pitch, const float* b, int b_pitch, int lane) {
    a += lane / 4 * a_pitch;
    b += 4 * (lane % 4);
#pragma unroll 2
    for (int k = 0; k < sub; k += 4) {
      float left[per_lane][4], right[4][8];
#pragma unroll
      for (int i = 0; i < per_lane; ++i) {
        const float4 v = *reinterpret_cast<const float4*>(a + 8 * i * a_pitch + k);
        left[i][0] = v.x, left[i][1] = v.y, left[i][2] = v.z, left[i][3] = v.w;
      }
#pragma unroll
      for (int kk = 0; kk < 4; ++kk) {
#pragma unroll
        for (int g = 0; g < 2; ++g) {
          const float4 v = *reinterpret_cast<const float4*>(b + (k + kk) * b_pitch + 16 * g);
          float* const to = right[kk] + 4 * g;
          to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
        }
      }
#pragma unroll
      for (int kk = 0; kk < 4; ++kk) {
#pragma unroll
        for (int i = 0; i < per_lane; ++i) {
#pragma unroll
          for (int j = 0; j < 8; ++j) c[i][j] += left[i][kk] * right[kk][j];
        }
      }
    }
  }
  /// to = keep * to + sign * c
  template <bool KEEP>
  __device__ void store(float* to, int pitch, float sign, int lane) const {
    to += lane / 4 * pitch + 4 * (lane % 4);
#pragma unroll
    for (int i = 0; i < per_lane; ++i) {
#pragma unroll
      for (int g = 0; g < 2; ++g) {
        auto* p = reinterpret_cast<float4*>(to + 8 * i * pitch + 16 * g);
        float4 v = KEEP ? *p : make_float4(0, 0, 0, 0);
        v.x += sign * c[i][4 * g], v.y += sign * c[i][4 * g + 1];
        v.z += sign * c[i][4 * g + 2], v.w += sign * c[i][4 * g + 3];
        *p = v;
      }
    }
  }
};

/// Decomposes the block in d.lu and inverts its diagonal sub-blocks, so that its panels are
/// products here, too. The whole block takes part; call after a barrier, results are valid after
/// the next one.
__device__ inline void factor_block(DiagonalBlock& d, int thread) {
  const int warp = thread / 32, lane = thread % 32;
  const auto at = [&](int i, int j) { return d.lu + i * sub * block_pitch + j * sub; };
#pragma unroll 1
  for (int step = 0; step < subs; ++step) {
    if (warp == 0) factor_sub_block(d, step * sub, lane);
    __syncthreads();
    if (warp == 0) invert_sub_block<true>(d, step, lane);
    if (warp == 1) invert_sub_block<false>(d, step, lane);
    __syncthreads();
    const int left = subs - 1 - step;  // sub-blocks below, and beside
    if (left == 0) break;
    if (warp < 2 * left) {  // L = A U^-1 and U = L^-1 A, a sub-block per warp, in its place
      const bool below = warp < left;
      const int other = step + 1 + (below ? warp : warp - left);
      float* const panel = below ? at(other, step) : at(step, other);
      const float* const inverse = below ? d.upper[step] : d.lower[step];
      WarpProduct<32> product;
      product.add(below ? panel : inverse, below ? block_pitch : sub_pitch, below ? inverse : panel,
                  below ? sub_pitch : block_pitch, lane);
      __syncwarp();
      product.store<false>(panel, block_pitch, 1, lane);
    }
    __syncthreads();
    // What is left: half sub-blocks of 16 x 32. Warps 0 and 1 begin with the next diagonal
    // sub-block, all others with one of the rest; then warp 0 decomposes it, the others go on.
    const int pieces = 2 * left * left;
    constexpr int others = block_threads / 32 - 1;
#pragma unroll 1
    for (int piece = warp; piece == warp || (warp > 0 && piece < pieces); piece += others) {
      if (piece < pieces) {
        const int row = piece / 2 / left * sub + piece % 2 * 16;
        const int column = step + 1 + piece / 2 % left;
        float* const from = at(step + 1, step) + row * block_pitch;
        WarpProduct<16> product;
        product.add(from, block_pitch, at(step, column), block_pitch, lane);
        product.store<true>(from + (column - step) * sub, block_pitch, -1, lane);
      }
      if (piece == warp) __syncthreads();
    }
  }
}

/// Replaces what lies off the diagonal sub-blocks by the inverses of L and U, by doubling: the
/// inverse of [A 0; B C] is [A' 0; -C' B A' C']. The diagonal sub-blocks' inverses are in d.lower
/// and d.upper. Barriers as in factor_block().
__device__ inline void invert_block(DiagonalBlock& d, int thread) {
  const int warp = thread / 32, lane = thread % 32;
  const auto at = [&](int i, int j) { return d.lu + i * sub * block_pitch + j * sub; };

  // 64 x 64: warps 0-3 the pairs of L, 4-7 those of U, 16 rows each. With [A 0; B C]: B A', then
  // -C' (...); with [A B; 0 C]: B C', then -A' (...).
  const bool lower = warp < 4;
  {
    const int low = warp / 2 % 2 * 2, high = low + 1, rows = warp % 2 * 16;
    float* const corner = lower ? at(high, low) : at(low, high);
#pragma unroll 1
    for (int half = 0; half < 2; ++half) {
      const int index = lower == (half == 0) ? low : high;
      const float* const inverse = lower ? d.lower[index] : d.upper[index];
      WarpProduct<16> product;
      if (half == 0) {
        product.add(corner + rows * block_pitch, block_pitch, inverse, sub_pitch, lane);
      } else {
        product.add(inverse + rows * sub_pitch, sub_pitch, corner, block_pitch, lane);
      }
      __syncthreads();
      product.store<false>(corner + rows * block_pitch, block_pitch, half == 0 ? 1 : -1, lane);
      __syncthreads();
    }
  }

  // 128 x 128: warps 0-3 a sub-block each of L's corner (rows 2, 3, columns 0, 1), 4-7 of U's, in
  // the same two halves. Sub-blocks of the 64 x 64 inverses: on the diagonal in d.lower or d.upper,
  // the others in d.lu, one is zero; so the second product is for some warps only. Operands are
  // chosen by arithmetic, and the product stands here once: a kernel that is called on one SM after
  // another fetches its instructions from L2 each time.
  const int p = warp / 2 % 2, q = warp % 2;
  float* const corner = lower ? at(2 + p, q) : at(p, 2 + q);
#pragma unroll 1
  for (int half = 0; half < 2; ++half) {
    const int index = half == 0 ? (lower ? q : 2 + q) : (lower ? 2 + p : p);
    const float* const inverse = lower ? d.lower[index] : d.upper[index];
    const bool two = half == 0 ? (q == 0) == lower : (p == 1) == lower;
    const float *a = corner, *b = inverse;
    int a_pitch = block_pitch, b_pitch = sub_pitch;
    if (half == 1) a = inverse, b = corner, a_pitch = sub_pitch, b_pitch = block_pitch;
    WarpProduct<32> product;
#pragma unroll 1
    for (int part = 0; part < (two ? 2 : 1); ++part) {
      product.add(a, a_pitch, b, b_pitch, lane);
      if (half == 0) {  // the rest of the row of B, and what A' or C' has below or above
        a = lower ? at(2 + p, 1) : at(p, 2);
        b = lower ? at(1, 0) : at(2, 3);
      } else {
        a = lower ? at(3, 2) : at(0, 1);
        b = lower ? at(2, q) : at(1, 2 + q);
      }
      a_pitch = b_pitch = block_pitch;
    }
    __syncthreads();
    product.store<false>(corner, block_pitch, half == 0 ? 1 : -1, lane);
    __syncthreads();
  }
}

/// Four elements of an inverse, after invert_block(), with the sign reversed, so that a panel is
/// zero less a product as an update is the old elements less one; zero in the other triangle.
__device__ inline float4 negative_inverse(const DiagonalBlock& d, bool of_lower, int row,
                                          int column) {
  const int i = row / sub, j = column / sub;
  if (i != j && (i > j) != of_lower) return make_float4(0, 0, 0, 0);
  const float* const from =
      i == j ? (of_lower ? d.lower[i] : d.upper[i]) + row % sub * sub_pitch + column % sub
             : d.lu + row * block_pitch + column;
  const float4 v = *reinterpret_cast<const float4*>(from);
  return make_float4(-v.x, -v.y, -v.z, -v.w);
}

// --- Rodinia's tiles

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
__device__ inline float inner_product(const float* below, const float* beside, int row,
                                      int column) {
  float sum = 0;
#pragma unroll
  for (int k = 0; k < tile; ++k) sum += below[row * tile + k] * beside[k * tile + column];
  return sum;
}

}  // namespace amasia::lud
