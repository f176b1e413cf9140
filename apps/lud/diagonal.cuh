// The decomposition of a diagonal block in shared memory, by one block of threads: what a warp does
// with a sub-block of 32 x 32. Which warp does what is in diagonal.hpp.
#pragma once

#include <cstdint>

#include "apps/lud/diagonal.hpp"
#include "apps/lud/tiles.cuh"
#include "variants/geometry/box.hpp"

namespace amasia::lud {

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

/// 1 / x, the first half: an approximation, for |x| from 2^-126 to 2^126, without the branch of the
/// division and without scaling.
__device__ __forceinline__ float approximate_reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
#else
  return 1 / x;
#endif
}
/// The second half: to within a rounding.
__device__ __forceinline__ float refined_reciprocal(float x, float r) {
  return fmaf(r, fmaf(-x, r, 1.0f), r);
}

/// to -= a b with one rounding, whatever the compiler makes of the surroundings.
__device__ __forceinline__ void lose(float& to, float a, float b) { to = fmaf(-a, b, to); }

/// The 4 x 4 elements on the diagonal, which every lane decomposes for itself: a pivot at a time,
/// in two halves, so that other work can stand where the reciprocal is waited for.
struct Corner {
  float element[4][4], reciprocal[4];

  __device__ __forceinline__ void load(const float* from) {
#pragma unroll
    for (int q = 0; q < 4; ++q) load4(element[q], from + q * block_pitch);
  }
  /// Steps 0 to 7, in this order: two per pivot.
  static constexpr int steps = 8;
  __device__ __forceinline__ void step(int number) {
    const int q = number / 2;
    if (number % 2 == 0) {
      reciprocal[q] = approximate_reciprocal(element[q][q]);
      return;
    }
    reciprocal[q] = refined_reciprocal(element[q][q], reciprocal[q]);
#pragma unroll
    for (int i = q + 1; i < 4; ++i) {
      element[i][q] *= reciprocal[q];
#pragma unroll
      for (int j = q + 1; j < 4; ++j) lose(element[i][j], element[i][q], element[q][j]);
    }
  }
};

/// Decomposes a diagonal sub-block, four columns at a time; one warp, a row per lane.
///
///   1. corner:       the 4 x 4 elements on the diagonal, by every lane for itself
///   2. column of L:  a row's own four elements
///   3. row of U:     the pivot rows to the right of them. Of the next four columns, for which the
///                    chain waits, by every lane for itself; each of the others by one lane, in
///                    place
///   4. update:       a row loses its part of L times the rows of U; the next corner's columns
///                    first, so that the next step 1 runs among the updates of the others
///
/// So a lane waits for others only once in four columns, for the next corner. Rows lose finished
/// rows of U, one after the other. Combining the four pivot rows as they stand would spare step 3,
/// but the combination's coefficients contain the inverse of the corner's L, and its rounding
/// errors grow with the corner's condition.
///
/// What several lanes compute for themselves, one of them stores in the end. All must round alike
/// (lose()), or rows would lose other numbers than the stored elements of L and U. The difference
/// would grow with the corner's condition as well.
__device__ inline void factor_sub_block(DiagonalBlock& d, int step, int lane) {
  float* const first = d.lu + step * sub * (block_pitch + 1);
  float* const own = first + lane * block_pitch;
  float* const transposed = d.transposed[step] + lane;
  float row[sub];
  Corner corner;
  corner.load(first);
#pragma unroll
  for (int j = 0; j < sub; j += 4) load4(row + j, own + j);
  __syncwarp();  // step 3 writes to other lanes' rows
#pragma unroll
  for (int i = 0; i < Corner::steps; ++i) corner.step(i);
#pragma unroll
  for (int k = 0; k < sub; k += 4) {
    const bool has_next = k + 4 < sub, has_more = k + 8 < sub;
    float* const pivot_rows = first + k * block_pitch;
    float pivots[2][4][4];  // of this chunk of four columns, and of the next
    float(&next)[4][4] = pivots[k / 4 % 2 ^ 1];
    float column[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      if (has_next) load4(next[q], pivot_rows + q * block_pitch + k + 4);
      if (has_more) column[q] = pivot_rows[q * block_pitch + lane];
    }
    // 2. column of L, where the elements lie below the diagonal; the others are of U
    float l[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      float value = row[k + q];
#pragma unroll
      for (int p = 0; p < q; ++p) lose(value, l[p], corner.element[p][q]);
      const bool below = lane > k + q;
      l[q] = below ? value * corner.reciprocal[q] : 0.0f;
      row[k + q] = below ? l[q] : value;
    }
    // 3. row of U
    if (has_more) {
#pragma unroll
      for (int q = 1; q < 4; ++q) {
#pragma unroll
        for (int p = 0; p < q; ++p) lose(column[q], corner.element[q][p], column[p]);
        if (lane >= k + 8) pivot_rows[q * block_pitch + lane] = column[q];
      }
      __syncwarp();
    }
    if (has_next) {
#pragma unroll
      for (int q = 1; q < 4; ++q) {
#pragma unroll
        for (int p = 0; p < q; ++p) {
#pragma unroll
          for (int e = 0; e < 4; ++e) lose(next[q][e], corner.element[q][p], next[p][e]);
        }
      }
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      if (lane == k + q) d.reciprocal[step * sub + lane] = corner.reciprocal[q];
      transposed[(k + q) * sub_pitch] = row[k + q];
    }
    // 4. update; rows of U are loaded a chunk ahead
    int done = 0;  // steps of the next corner: a chunk later than it is loaded, two with each
#pragma unroll
    for (int j = k + 4; j < sub; j += 4) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        if (j + 4 < sub) load4(pivots[j / 4 % 2 ^ 1][q], pivot_rows + q * block_pitch + j + 4);
      }
#pragma unroll
      for (int q = 0; q < 4; ++q) {
#pragma unroll
        for (int e = 0; e < 4; ++e) lose(row[j + e], l[q], pivots[j / 4 % 2][q][e]);
      }
      if (lane / 4 == k / 4 + 1) store4(own + j, row + j);
      if (j == k + 4) {
        __syncwarp();
        corner.load(first + j * (block_pitch + 1));
      } else {
        if (done > 0 && done < Corner::steps) corner.step(done++);
        if (done < Corner::steps) corner.step(done++);
      }
    }
#pragma unroll
    for (int i = 0; i < Corner::steps; ++i) {
      if (has_next && i >= done) corner.step(i);
    }
    __syncwarp();
  }
#pragma unroll
  for (int j = 0; j < sub; j += 4) store4(own + j, row + j);
}

/// Solves L X = B (a column of X per lane) or X U = B (a row per lane) with a diagonal sub-block,
/// in place; one warp. Line k of the triangle, k's column of L or row of U, is what x[k] takes from
/// the later elements, once it has been scaled. A chunk of the next line is loaded as soon as that
/// of this one is used.
__device__ inline void solve_sub_block(DiagonalBlock& d, const Task& t, int lane) {
  const int corner = t.step * sub;
  // The lane's first element of B, and of X.
  float* const own =
      d.lu + t.i * sub * block_pitch + t.j * sub + lane * (t.lower ? 1 : block_pitch);
  const float* const lines = t.lower ? d.transposed[t.step] : d.lu + corner * (block_pitch + 1);
  const int pitch = t.lower ? sub_pitch : block_pitch;
  const float* const scales = t.lower ? d.one : d.reciprocal + corner;

  float x[sub], line[sub], scale[4];
  if (t.lower) {
#pragma unroll
    for (int i = 0; i < sub; ++i) x[i] = own[i * block_pitch];
  } else {
#pragma unroll
    for (int i = 0; i < sub; i += 4) load4(x + i, own + i);
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
    for (int i = 0; i < sub; ++i) own[i * block_pitch] = x[i];
  } else {
#pragma unroll
    for (int i = 0; i < sub; i += 4) store4(own + i, x + i);
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

/// U of diagonal sub-block i as panels are solved with it (SolveTile::substitute): transposed, its
/// chunks permuted as those of A are, with reciprocals on the diagonal; one warp.
__device__ inline void store_triangle_of_u(const DiagonalBlock& d, const DiagonalResult& to, int i,
                                           int lane) {
  float* const square = to.upper + i * sub * (panel_width + 1);
  const int chunk = lane % 8;
#pragma unroll
  for (int part = 0; part < sub / 4; ++part) {
    const int row = lane / 8 + 4 * part;  // a column of U
    float v[4];
    load4(v, d.transposed[i] + row * sub_pitch + 4 * chunk);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      if (4 * chunk + e == row) v[e] = d.reciprocal[i * sub + row];
    }
    store4(square + row * panel_width + 4 * swizzled_chunk(row, chunk), v);
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
  if (!to.panels_follow) return;
  float* const extra = (i >= j ? to.lower : to.upper) + row * panel_width + column;
#pragma unroll
  for (int part = 0; part < sub / 4; ++part) {
    *reinterpret_cast<float4*>(extra + 4 * part * panel_width) = v[part];
  }
  if (i == j) store_triangle_of_u(d, to, i, lane);
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
    } else if (t.kind == Task::solve) {
      solve_sub_block(d, t, lane);
    }
    if (t.stores) store_sub_block(d, to, t.stored_i, t.stored_j, lane);
    if (phase + 1 < phases) __syncthreads();
  }
}

}  // namespace amasia::lud
