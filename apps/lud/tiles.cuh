// The two sizes of tiles of C that a block computes, with the same interface for the movers: how a
// slice of the operands lies in shared memory, where a thread's elements of C are, and the inner
// product. The small one also solves panels.
#pragma once

#include "apps/common/fp32_tile.cuh"
#include "apps/lud/blocked.hpp"
#include "variants/ptx/shared_memory.cuh"

namespace amasia::lud {

/// Four elements from a shared address.
__device__ __forceinline__ void load4(float* to, unsigned from) {
  const float4 v = async::load_float4(from);
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}

/// Four elements of the result: the old ones less the product.
__device__ __forceinline__ float4 less(float4 old, const float* c) {
  return make_float4(old.x - c[0], old.y - c[1], old.z - c[2], old.w - c[3]);
}

/// Where a thread's group of four elements of C lies when C is in shared memory as boxes of 32
/// columns: 16-byte chunk `chunk` of row `row`; its next rows are 8 apart.
struct ChunkOfC {
  int box, row, chunk;
};

/// 128 x 128, for the updates that have time: gemm's.
struct BlockTile : matrix::Fp32Tile<panel_width> {
  // A slice is a box of A and one of B; the smaller boxes are what each block of a cluster fetches
  // of an operand that both need.
  static constexpr int a_box_rows = m, b_box_rows = k, b_box_columns = n;
  static constexpr int a_half_rows = m / 2, b_half_rows = k / 2, b_half_columns = n;
  static constexpr int c_boxes = n / k, c_boxes_per_stage = slice_bytes / a_bytes;  // as A's
  // One warp starts bulk copies, and its number is a constant: its loops over boxes then unroll to
  // nothing but the copies.
  static constexpr int loaders = 1;
  static __device__ bool loads(int thread) { return thread == 0; }
  static __device__ int loader(int) { return 0; }
  static constexpr int scratch_bytes = 0;
  static constexpr int shares_unrolled = chunks;  // of a slice, where a mover does nothing else

  AMASIA_HD static constexpr int boxes_of_a(const TileProduct&) { return 1; }
  AMASIA_HD static constexpr int boxes_of_b(const TileProduct&) { return 1; }
  AMASIA_HD static constexpr int bytes_of_slice(const TileProduct&) { return slice_bytes; }
  AMASIA_HD static constexpr int first_row(const TileProduct& t, int thread) {
    return t.c_row + row(thread, 0);
  }
  AMASIA_HD static constexpr int first_column(const TileProduct& t, int thread) {
    return t.c_column + column(thread, 0);
  }
  AMASIA_HD static constexpr int c_box_row(const TileProduct& t, int) { return t.c_row; }
  AMASIA_HD static constexpr int c_box_column(const TileProduct& t, int box) {
    return t.c_column + box * k;
  }
  AMASIA_HD static constexpr ChunkOfC chunk_of_c(int thread, int g) {
    return {column(thread, g) / k, row(thread, 0), column(thread, g) % k / 4};
  }

  /// acc += A B of one slice; between(chunk) is what a mover does meanwhile.
  template <class Between>
  static __device__ __forceinline__ void advance(Accumulator& acc, unsigned slice, int, unsigned,
                                                 const TileProduct&, int thread,
                                                 Between&& between) {
    Fp32Tile::multiply<std::decay_t<Between>::rows_before>(acc, Left(slice, thread),
                                                           slice + a_bytes, thread, between);
  }
};

/// A tile of the chain: the products between one diagonal block and the next, which waits for them.
/// They are few, so that an SM has one or two, and what counts is how soon a tile is done, not how
/// many are done per second. A quarter of the large tile: four times as many SMs take part.
///
/// A warp has 32 x 32 elements, 8 lanes down and 4 across with 4 x 8 each; TileProduct says how the
/// four warps lie. Operands lie in boxes of 32 x 32, 128 bytes a row: rows of A, permuted as in
/// gemm, then columns of B. So every shape is the same code. Each scheduler has one warp, and
/// nobody hides what it waits for: operands are read two columns of A (64 FFMA) ahead.
struct ChainTile {
  static constexpr int k = 32, box = warp_edge;
  static constexpr int threads = chain_warps * 32;
  static constexpr int blocks_per_sm = 4;  // registers for two beside a block of the large tile
  static constexpr int rows_per_thread = 4, columns_per_thread = 8;
  static constexpr int box_bytes = box * k * 4;
  static constexpr int most_boxes = chain_warps + 1;  // of a slice
  static constexpr int slice_bytes = most_boxes * box_bytes;
  static constexpr int chunks = k / 4;  // of four columns of A
  static_assert(box == k, "boxes of A, B and C are alike");

  static constexpr int a_bytes = box_bytes, b_bytes = box_bytes;  // of a box
  static constexpr int a_box_rows = box, b_box_rows = k, b_box_columns = box;
  static constexpr int a_half_rows = box, b_half_rows = k, b_half_columns = box;
  static constexpr int c_boxes = chain_warps, c_boxes_per_stage = c_boxes;
  // Every warp starts bulk copies, of a box each, or one warp would come late.
  static constexpr int loaders = chain_warps;
  static __device__ bool loads(int thread) { return thread % 32 == 0; }
  static __device__ int loader(int thread) { return thread / 32; }
  static constexpr int shares_unrolled = 1;
  static constexpr int scratch_bytes = 0;

  AMASIA_HD static constexpr int boxes_of_a(const TileProduct& t) { return t.rows / box; }
  AMASIA_HD static constexpr int boxes_of_b(const TileProduct& t) { return t.columns / box; }
  AMASIA_HD static constexpr int bytes_of_slice(const TileProduct& t) {
    return (boxes_of_a(t) + boxes_of_b(t)) * box_bytes;
  }
  /// Which box of A, and so of C's rows, a warp has; and which of B.
  AMASIA_HD static constexpr int down(const TileProduct& t, int warp) {
    return warp * boxes_of_a(t) / chain_warps;
  }
  AMASIA_HD static constexpr int across(const TileProduct& t, int warp) {
    return warp & (boxes_of_b(t) - 1);
  }
  AMASIA_HD static constexpr int c_box_row(const TileProduct& t, int warp) {
    return t.c_row + down(t, warp) * box;
  }
  AMASIA_HD static constexpr int c_box_column(const TileProduct& t, int warp) {
    return t.c_column + across(t, warp) * box;
  }
  AMASIA_HD static constexpr int first_row(const TileProduct& t, int thread) {
    return c_box_row(t, thread / 32) + thread % 8;
  }
  AMASIA_HD static constexpr int first_column(const TileProduct& t, int thread) {
    return c_box_column(t, thread / 32) + thread % 32 / 8 * 4;
  }
  AMASIA_HD static constexpr ChunkOfC chunk_of_c(int thread, int g) {
    return {thread / 32, thread % 8, 4 * g + thread % 32 / 8};
  }

  using Accumulator = matrix::Accumulator<rows_per_thread, columns_per_thread>;

  /// 16-byte chunk of a square of 32 x 32 at a shared address, permuted as A is.
  static __device__ __forceinline__ unsigned place(unsigned square, int row, int chunk) {
    return square + static_cast<unsigned>(row * k * 4 + 16 * swizzled_chunk(row, chunk));
  }
  /// visit(its place in such a square, the elements) for a lane's groups of four.
  template <class Sums, class Visit>
  static __device__ __forceinline__ void each_chunk(Sums& acc, unsigned square, int lane,
                                                    Visit&& visit) {
#pragma unroll
    for (int i = 0; i < rows_per_thread; ++i) {
#pragma unroll
      for (int g = 0; g < columns_per_thread / 4; ++g) {
        visit(place(square, lane % 8 + 8 * i, lane / 8 + 4 * g), &acc.c[i][4 * g]);
      }
    }
  }

  /// acc += A B of one slice; between(chunk) is what a mover does meanwhile.
  template <class Between>
  static __device__ __forceinline__ void advance(Accumulator& acc, unsigned slice, int, unsigned,
                                                 const TileProduct& t, int thread,
                                                 Between&& between) {
    const int warp = thread / 32;
    multiply<false>(acc, slice + static_cast<unsigned>(down(t, warp) * box_bytes),
                    slice + static_cast<unsigned>((boxes_of_a(t) + across(t, warp)) * box_bytes),
                    thread, between);
  }

  /// acc += a b, of 32 x 32 elements each: a permuted, b only if PERMUTED_B. Behind the last chunk
  /// the first one is read again, and not used.
  template <bool PERMUTED_B, class Between>
  static __device__ __forceinline__ void multiply(Accumulator& acc, unsigned a_box, unsigned b_box,
                                                  int thread, Between&& between) {
    constexpr int tm = rows_per_thread, tn = columns_per_thread;
    constexpr int ahead = 2, lines = 4;  // columns of A; rows of B that are held
    constexpr int row_bytes = k * 4;
    const int row = thread % 8;
    const unsigned a0 = a_box + static_cast<unsigned>(row * row_bytes);
    const unsigned b0 = b_box + static_cast<unsigned>(thread % 32 / 8 * 16);
    float a[2][tm][4];
    float line[lines][tn];
    const auto fetch_a = [&](int buffer, int i, int chunk) {
      load4(a[buffer][i],
            a0 + static_cast<unsigned>(16 * swizzled_chunk(row, chunk) + 8 * i * row_bytes));
    };
    // Of a permuted b the low bits of the row permute the thread's chunk, which the address has,
    // and the next bit its half of the row.
    const auto fetch_b = [&](int q, unsigned chunk_address, int odd) {
      const unsigned at =
          PERMUTED_B ? chunk_address ^ static_cast<unsigned>(16 * q) : chunk_address;
#pragma unroll
      for (int g = 0; g < tn / 4; ++g) {
        const int half = PERMUTED_B ? g ^ odd : g;
        load4(line[q] + 4 * g, at + static_cast<unsigned>(q * row_bytes + 64 * half));
      }
    };
#pragma unroll
    for (int q = 0; q < ahead; ++q) fetch_b(q, b0, 0);
#pragma unroll
    for (int i = 0; i < tm; ++i) fetch_a(0, i, 0);
#pragma unroll 2
    for (int chunk = 0; chunk < chunks; ++chunk) {
      between(chunk);
      const int next = (chunk + 1) % chunks;
      const unsigned here = b0 + static_cast<unsigned>(4 * chunk * row_bytes);
      const unsigned there = b0 + static_cast<unsigned>(4 * next * row_bytes);
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const bool same = q + ahead < lines;
        fetch_b((q + ahead) % lines, same ? here : there, (same ? chunk : chunk + 1) & 1);
#pragma unroll
        for (int i = 0; i < tm; ++i) {
          if (i == 1) fetch_a((chunk + 1) & 1, q, next);
#pragma unroll
          for (int step = 0; step < tn; ++step) {
            const int j = i % 2 == 0 ? step : tn - 1 - step;
            acc.c[i][j] = fmaf(a[chunk & 1][i][q], line[q][j], acc.c[i][j]);
          }
        }
      }
    }
  }
};

/// A tile of a panel: what a product would bring to shared memory is solved with, slice by slice. A
/// warp whose square is solved, or is not due yet, multiplies nothing; between.all() is what a
/// mover does then.
struct SolveTile : ChainTile {
  // For four an SM's registers leave 128 to a thread, and these kernels need more.
  static constexpr int blocks_per_sm = 3;
  static constexpr int scratch_bytes = box_bytes;  // before the mover's stages

  template <class Between>
  static __device__ __forceinline__ void advance(Accumulator& acc, unsigned slice, int index,
                                                 unsigned scratch, const TileProduct& t, int thread,
                                                 Between&& between) {
    if (t.columns == box) {
      solve<true>(acc, slice, index, scratch, thread, between);
    } else {
      solve<false>(acc, slice, index, scratch, thread, between);
    }
  }

  /// Step `step` of a blocked substitution (Golub and Van Loan, 3.1.4), by squares of 32 x 32: of
  /// L X = B (BESIDE: X has the rows of the diagonal block and 32 columns, and B comes a square
  /// per step), or of X U = B (X has 32 rows, and is what comes in squares). A warp's
  /// accumulator is what its square of B loses, and, once it is solved, less X.
  ///
  ///   1. losses:        of the step's square of B, to the scratch                  one warp
  ///   2. substitution:  with the triangle on the diagonal; X replaces the losses  all
  ///   3. update:        squares behind it lose the product with the new one       those behind
  ///
  /// Substitution is backward stable whatever the triangle's condition. A product with its inverse
  /// would not be: its residual grows with |L| |L^-1| (Higham, Accuracy and Stability of Numerical
  /// Algorithms, 2nd edition, 8.1 and 14.2).
  template <bool BESIDE, class Between>
  static __device__ __forceinline__ void solve(Accumulator& acc, unsigned slice, int step,
                                               unsigned scratch, int thread, Between&& between) {
    const int warp = thread / 32, lane = thread % 32;
    // Of L four boxes come first, of U they come second.
    const unsigned boxes = slice + (BESIDE ? 0 : box_bytes);
    const unsigned square_of_b = slice + (BESIDE ? chain_warps * box_bytes : 0);
    __syncthreads();  // the last square of X is read
    if (warp == step) store_losses(acc, scratch, lane);
    substitute<BESIDE>(boxes + static_cast<unsigned>(step * box_bytes), square_of_b, scratch, warp,
                       lane);
    __syncthreads();
    if (warp > step) {
      const unsigned own = boxes + static_cast<unsigned>(warp * box_bytes);
      multiply<BESIDE>(acc, BESIDE ? own : scratch, BESIDE ? scratch : own, thread, between);
      return;
    }
    if (warp == step) keep_solution(acc, scratch, lane);
    between.all();
  }

  /// The scratch holds a square of X with the permutation of A.
  static __device__ __forceinline__ void store_losses(const Accumulator& acc, unsigned scratch,
                                                      int lane) {
    each_chunk(acc, scratch, lane, [](unsigned at, const float* c) {
      async::store_float4(at, make_float4(c[0], c[1], c[2], c[3]));
    });
  }

  /// Solves T x = b for the 32 right-hand sides that B less its losses has: columns with T = L,
  /// whose diagonal is one (BESIDE), or rows with T = U^T, whose diagonal holds reciprocals. T lies
  /// permuted as A does. The losses are there after a barrier within; x replaces them.
  ///
  /// A warp has eight right-hand sides, and four lanes share each: lane `part` of them has
  /// unknowns part, part + 4, ... Four unknowns at a time go round by shuffle, and each lane solves
  /// for the four itself; so there are 8 exchanges, not 31. The two lines that come next are
  /// updated first, the rest while the next exchange is on its way; of T everything is read one
  /// exchange ahead.
  template <bool BESIDE>
  static __device__ __forceinline__ void substitute(unsigned triangle, unsigned square_of_b,
                                                    unsigned scratch, int warp, int lane) {
    constexpr int four = 4, groups = box / four;
    const int part = lane % four, side = lane / four;
    // Eight columns are the warp's chunk of either half, and its rows are eight in a row: so all
    // lanes are in different banks, but for B beside the diagonal, which is not permuted.
    const int column = 4 * (warp + 4 * (side / four)) + side % four;
    const auto place_of = [&](int group) {
      return BESIDE ? place(scratch, four * group + part, column / 4) +
                          static_cast<unsigned>(4 * (column % 4))
                    : place(scratch, 8 * warp + side, group) + static_cast<unsigned>(4 * part);
    };
    const auto place_of_b = [&](int group) {
      return BESIDE
                 ? square_of_b + static_cast<unsigned>((four * group + part) * k * 4 + 4 * column)
                 : place_of(group) - scratch + square_of_b;
    };
    float own[groups];                                   // the lane's unknowns
    float corner[2][four][four], line[2][groups][four];  // of T, for this group and the next
    const auto fetch = [&](int group) {
#pragma unroll
      for (int q = BESIDE; q < four; ++q)
        load4(corner[group % 2][q], place(triangle, four * group + q, group));
#pragma unroll
      for (int r = group + 1; r < groups; ++r)
        load4(line[group % 2][r], place(triangle, four * r + part, group));
    };
    fetch(0);
#pragma unroll
    for (int group = 0; group < groups; ++group) own[group] = async::load_float(place_of_b(group));
    __syncthreads();
#pragma unroll
    for (int group = 0; group < groups; ++group) own[group] -= async::load_float(place_of(group));
    float y[2][four];
    const auto exchange = [&](int group) {
#pragma unroll
      for (int q = 0; q < four; ++q) y[group % 2][q] = __shfl_sync(~0u, own[group], q, four);
    };
    exchange(0);
#pragma unroll
    for (int group = 0; group < groups; ++group) {
      float* const solved = y[group % 2];
      const auto& t = corner[group % 2];
      const auto& lines = line[group % 2];
      if (group + 1 < groups) fetch(group + 1);
#pragma unroll
      for (int q = 0; q < four; ++q) {
#pragma unroll
        for (int p = 0; p < q; ++p) solved[q] -= t[q][p] * solved[p];
        if (!BESIDE) solved[q] *= t[q][q];
      }
#pragma unroll
      for (int q = 0; q < four; ++q) {
#pragma unroll
        for (int r = group + 1; r < groups && r < group + 3; ++r) {
          own[r] -= lines[r][q] * solved[q];
        }
      }
      if (group + 1 < groups) exchange(group + 1);
#pragma unroll
      for (int q = 0; q < four; ++q) {
        if (part == q) own[group] = solved[q];
#pragma unroll
        for (int r = group + 3; r < groups; ++r) own[r] -= lines[r][q] * solved[q];
      }
    }
#pragma unroll
    for (int group = 0; group < groups; ++group) async::store_float(place_of(group), own[group]);
  }

  /// The solved square, from the scratch: one warp.
  static __device__ __forceinline__ void keep_solution(Accumulator& acc, unsigned scratch,
                                                       int lane) {
    each_chunk(acc, scratch, lane, [](unsigned at, float* c) {
      const float4 v = async::load_float4(at);
      c[0] = -v.x, c[1] = -v.y, c[2] = -v.z, c[3] = -v.w;
    });
  }
};

}  // namespace amasia::lud
