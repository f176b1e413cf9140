// The decomposition of a diagonal block in shared memory, by one block of threads: what a warp does
// with a sub-block of 32 x 32. Which warp does what is in diagonal.hpp.
#pragma once

#include <cstdint>

#include "apps/lud/diagonal.hpp"

namespace amasia::lud {

/// Four elements of the result: the old ones less the product.
__device__ __forceinline__ float4 less(float4 old, const float* c) {
  return make_float4(old.x - c[0], old.y - c[1], old.z - c[2], old.w - c[3]);
}

/// Rows of the block in shared memory are four floats longer than the block, so that a column of
/// 16-byte chunks touches all banks.
inline constexpr int block_pitch = panel_width + 4;
inline constexpr int sub_pitch = sub + 4;
inline constexpr int block_threads = 32 * block_warps;

struct DiagonalBlock {
  float lu[panel_width * block_pitch];      // (128, 132)
  float transposed[subs][sub * sub_pitch];  // the diagonal sub-blocks, columns as rows
  float reciprocal[panel_width];            // of the pivots
  float one[sub];                           // L's pivots
};

/// Where the decomposed block goes: to its place, and, unless no panels follow, to what they are
/// solved with (Problem::lower, upper).
struct DiagonalResult {
  float* matrix;
  std::int64_t pitch;
  int size;  // rows and columns inside the matrix
  bool panels_follow;
  float *lower, *upper;  // (128, 128)
};

__device__ __forceinline__ void load4(float* to, const float* from) {
  const float4 v = *reinterpret_cast<const float4*>(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
__device__ __forceinline__ void store4(float* to, const float* from) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}

/// 1 / x to within a rounding, without the branch of the division and without scaling: for |x| from
/// 2^-126 to 2^126.
__device__ inline float reciprocal_of(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return fmaf(r, fmaf(-x, r, 1.0f), r);
}

/// Decomposes a diagonal sub-block, four columns at a time; one warp, a row per lane. What a row
/// loses is a combination of the four pivot rows as they stand in shared memory, before they are
/// decomposed themselves; its coefficients are a lane's own affair, and so is the decomposition of
/// the 4 x 4 elements on the diagonal, which every lane does. So a lane waits for others only once
/// in four columns, for the elements on the next four's diagonal, which come first.
__device__ inline void factor_sub_block(DiagonalBlock& d, int step, int lane) {
  float* const first = d.lu + step * sub * (block_pitch + 1);
  float* const own = first + lane * block_pitch;
  float* const transposed = d.transposed[step] + lane;
  float row[sub], corner[4][4];
#pragma unroll
  for (int q = 0; q < 4; ++q) load4(corner[q], first + q * block_pitch);
#pragma unroll
  for (int j = 0; j < sub; j += 4) load4(row + j, own + j);
#pragma unroll
  for (int k = 0; k < sub; k += 4) {
    float reciprocal[4], l[4], m[4], pivots[2][4][4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      if (k + 4 < sub) load4(pivots[k / 4 % 2 ^ 1][q], first + (k + q) * block_pitch + k + 4);
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      reciprocal[q] = reciprocal_of(corner[q][q]);
#pragma unroll
      for (int i = q + 1; i < 4; ++i) {
        corner[i][q] *= reciprocal[q];
#pragma unroll
        for (int j = q + 1; j < 4; ++j) corner[i][j] -= corner[i][q] * corner[q][j];
      }
    }
    // The row's own four elements: of L where they lie below the diagonal, otherwise of U.
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      float value = row[k + q];
#pragma unroll
      for (int p = 0; p < q; ++p) value -= l[p] * corner[p][q];
      const bool below = lane > k + q;
      l[q] = below ? value * reciprocal[q] : 0.0f;
      row[k + q] = below ? l[q] : value;
    }
#pragma unroll
    for (int q = 3; q >= 0; --q) {
      m[q] = l[q];
#pragma unroll
      for (int p = q + 1; p < 4; ++p) m[q] -= m[p] * corner[p][q];
    }
    // Pivot rows are loaded four columns ahead; the first four before all this arithmetic.
#pragma unroll
    for (int j = k + 4; j < sub; j += 4) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        if (j + 4 < sub) load4(pivots[j / 4 % 2 ^ 1][q], first + (k + q) * block_pitch + j + 4);
      }
#pragma unroll
      for (int q = 0; q < 4; ++q) {
#pragma unroll
        for (int e = 0; e < 4; ++e) row[j + e] -= m[q] * pivots[j / 4 % 2][q][e];
      }
      if (lane / 4 == k / 4 + 1) store4(own + j, row + j);
      if (j == k + 4) {
        __syncwarp();
#pragma unroll
        for (int q = 0; q < 4; ++q) load4(corner[q], first + (j + q) * block_pitch + j);
      }
    }
    __syncwarp();
    if (lane / 4 == k / 4) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        if (lane % 4 == q) d.reciprocal[step * sub + lane] = reciprocal[q];
      }
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) transposed[(k + q) * sub_pitch] = row[k + q];
  }
#pragma unroll
  for (int j = 0; j < sub; j += 4) store4(own + j, row + j);
}

/// Solves L X = B (a column of X per lane) or X U = B (a row per lane) with a diagonal sub-block,
/// or, where B is the identity, inverts it; one warp. Line k of the triangle, k's column of L or
/// row of U, is what x[k] takes from the later elements, once it has been scaled. A chunk of the
/// next line is loaded as soon as that of this one is used.
__device__ inline void solve_sub_block(DiagonalBlock& d, const DiagonalResult& result,
                                       const Task& t, int lane) {
  const bool inverse = t.kind == Task::invert;
  const int corner = t.step * sub;
  // The lane's first element of B and of X, and from one to the next.
  float* const from =
      d.lu + t.i * sub * block_pitch + t.j * sub + lane * (t.lower ? 1 : block_pitch);
  float* to = from;
  int stride = block_pitch;
  if (inverse) {
    to = (t.lower ? result.lower : result.upper) + corner * (panel_width + 1) +
         lane * (t.lower ? 1 : panel_width);
    stride = panel_width;
  }
  const float* const lines = t.lower ? d.transposed[t.step] : d.lu + corner * (block_pitch + 1);
  const int pitch = t.lower ? sub_pitch : block_pitch;
  const float* const scales = t.lower ? d.one : d.reciprocal + corner;

  float x[sub], line[sub], scale[4];
  if (inverse) {
#pragma unroll
    for (int i = 0; i < sub; ++i) x[i] = i == lane ? 1.0f : 0.0f;
  } else if (t.lower) {
#pragma unroll
    for (int i = 0; i < sub; ++i) x[i] = from[i * block_pitch];
  } else {
#pragma unroll
    for (int i = 0; i < sub; i += 4) load4(x + i, from + i);
  }
#pragma unroll
  for (int i = 0; i < sub; i += 4) load4(line + i, lines + i);
#pragma unroll
  for (int k = 0; k < sub; ++k) {
    if (k % 4 == 0) load4(scale, scales + k);
    x[k] *= scale[k % 4];
#pragma unroll
    for (int chunk = (k + 1) / 4; chunk < sub / 4; ++chunk) {
#pragma unroll
      for (int j = 4 * chunk; j < 4 * chunk + 4; ++j) {
        if (j > k) x[j] -= line[j] * x[k];
      }
      if (k + 2 < sub && chunk >= (k + 2) / 4) {
        load4(line + 4 * chunk, lines + (k + 1) * pitch + 4 * chunk);
      }
    }
  }
  if (t.lower) {
#pragma unroll
    for (int i = 0; i < sub; ++i) to[i * stride] = x[i];
  } else {
#pragma unroll
    for (int i = 0; i < sub; i += 4) store4(to + i, x + i);
  }
}

/// A part of a sub-block loses a product of ROWS x depth and depth x COLUMNS; one warp, lane `lane`
/// has rows lane / 4 + 8 i and columns 4 (lane % 4) + 16 g ... + 3.
template <int ROWS, int COLUMNS>
__device__ inline void update_sub_block(DiagonalBlock& d, const Task& t, int lane) {
  constexpr int rows = ROWS / 8, groups = COLUMNS / 16;
  const int row = t.i * sub + t.lower_rows * (sub / 2) + lane / 4;
  const int column = t.j * sub + t.right_columns * (sub / 2) + 4 * (lane % 4);
  const float* const a = d.lu + row * block_pitch;
  const float* const b = d.lu + column;
  // The next four columns' operands are loaded ahead, where registers allow it.
  constexpr int ahead = ROWS * COLUMNS < sub * sub;
  float c[rows][4 * groups] = {}, left[ahead + 1][rows][4], right[ahead + 1][4][4 * groups];
  const auto load = [&](int buffer, int k) {
#pragma unroll
    for (int i = 0; i < rows; ++i) load4(left[buffer][i], a + 8 * i * block_pitch + k);
#pragma unroll
    for (int q = 0; q < 4; ++q) {
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        load4(right[buffer][q] + 4 * g, b + (k + q) * block_pitch + 16 * g);
      }
    }
  };
  const int begin = t.step * sub, end = t.end * sub;
  if (ahead) load(0, begin);
#pragma unroll 1
  for (int k = begin; k < end; k += 8) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int next = k + 4 * (half + ahead);
      load((half + ahead) % (ahead + 1), next < end ? next : begin);
      const int buffer = half % (ahead + 1);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
#pragma unroll
        for (int i = 0; i < rows; ++i) {
#pragma unroll
          for (int j = 0; j < 4 * groups; ++j) c[i][j] += left[buffer][i][q] * right[buffer][q][j];
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < rows; ++i) {
#pragma unroll
    for (int g = 0; g < groups; ++g) {
      auto* const p =
          reinterpret_cast<float4*>(d.lu + (row + 8 * i) * block_pitch + column + 16 * g);
      *p = less(*p, c[i] + 4 * g);
    }
  }
}

/// Sub-block (i, j), which is finished, to where it is wanted; one warp.
__device__ inline void store_sub_block(const DiagonalBlock& d, const DiagonalResult& to, int i,
                                       int j, int lane) {
  const int row = i * sub + lane / 8, column = j * sub + lane % 8 * 4;
  float4 v[sub / 4];
#pragma unroll
  for (int part = 0; part < sub / 4; ++part) {
    v[part] = *reinterpret_cast<const float4*>(d.lu + (row + 4 * part) * block_pitch + column);
  }
#pragma unroll
  for (int part = 0; part < sub / 4; ++part) {
    if (row + 4 * part < to.size && column < to.size) {
      *reinterpret_cast<float4*>(to.matrix + (row + 4 * part) * to.pitch + column) = v[part];
    }
  }
  if (i == j || !to.panels_follow) return;
  float* const extra = (i > j ? to.lower : to.upper) + row * panel_width + column;
#pragma unroll
  for (int part = 0; part < sub / 4; ++part) {
    *reinterpret_cast<float4*>(extra + 4 * part * panel_width) = v[part];
  }
}

static __constant__ TaskTable tasks = task_table();

/// Decomposes the block in d.lu and stores the result; before_last() is called ahead of the last
/// phase. The whole block takes part; call after a barrier.
template <class BeforeLast>
__device__ inline void factor_block(DiagonalBlock& d, const DiagonalResult& to, int thread,
                                    BeforeLast&& before_last) {
  const int warp = thread / 32, lane = thread % 32;
  const std::uint32_t own = tasks.of[warp][lane];
  if (thread < sub) d.one[thread] = 1;
#pragma unroll 1
  for (int phase = 0; phase < phases; ++phase) {
    if (phase + 1 == phases) before_last();
    const Task t = unpacked(__shfl_sync(~0u, own, phase));
    if (t.kind == Task::decompose) {
      factor_sub_block(d, t.step, lane);
    } else if (t.kind == Task::update) {
      if (t.part == Task::quarter) {
        update_sub_block<sub / 2, sub / 2>(d, t, lane);
      } else if (t.part == Task::half) {
        update_sub_block<sub / 2, sub>(d, t, lane);
      } else {
        update_sub_block<sub, sub>(d, t, lane);
      }
    } else if (t.kind == Task::solve || (t.kind == Task::invert && to.panels_follow)) {
      solve_sub_block(d, to, t, lane);
    }
    if (t.stores) store_sub_block(d, to, t.stored_i, t.stored_j, lane);
    if (phase + 1 < phases) __syncthreads();
  }
}

}  // namespace amasia::lud
