// The two sizes of tiles of C that a block computes, with the same interface for the movers: how a
// slice of the operands lies in shared memory, where a thread's elements of C are, and the inner
// product.
#pragma once

#include "apps/gemm/kernel.cuh"
#include "apps/lud/blocked.hpp"

namespace amasia::lud {

/// Where a thread's group of four elements of C lies when C is in shared memory as boxes of 32
/// columns: 16-byte chunk `chunk` of row `row`; its next rows are 8 apart.
struct ChunkOfC {
  int box, row, chunk;
};

/// 128 x 128, for the updates that have time: gemm's.
struct BlockTile : gemm::Fp32Tile<panel_width> {
  // A slice is a box of A and one of B; the smaller boxes are what each block of a cluster fetches
  // of an operand that both need.
  static constexpr int a_box_rows = m, b_box_rows = k, b_box_columns = n;
  static constexpr int a_half_rows = m / 2, b_half_rows = k / 2, b_half_columns = n;
  static constexpr int c_boxes = n / k, c_boxes_per_stage = slice_bytes / a_bytes;  // as A's
  static constexpr int loaders = 1;               // warps that start bulk copies
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

  template <class Between>
  static __device__ __forceinline__ void multiply(Accumulator& acc, unsigned slice,
                                                  const TileProduct&, int thread,
                                                  Between&& between) {
    Fp32Tile::multiply(acc, Left(slice, thread), slice + a_bytes, thread, between);
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
  static constexpr int loaders = chain_warps;  // a box each, or one warp would come late
  static constexpr int shares_unrolled = 1;

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

  struct Accumulator {
    float c[rows_per_thread][columns_per_thread];
    __device__ void clear() {
#pragma unroll
      for (auto& line : c) {
#pragma unroll
        for (float& x : line) x = 0;
      }
    }
  };

  /// acc += A B of one slice; between(chunk) is what a mover does meanwhile. Behind the last chunk
  /// the first one is read again, and not used.
  template <class Between>
  static __device__ __forceinline__ void multiply(Accumulator& acc, unsigned slice,
                                                  const TileProduct& t, int thread,
                                                  Between&& between) {
    constexpr int tm = rows_per_thread, tn = columns_per_thread;
    constexpr int ahead = 2, lines = 4;  // columns of A; rows of B that are held
    constexpr int row_bytes = k * 4;
    const int warp = thread / 32, row = thread % 8;
    const unsigned a0 = slice + static_cast<unsigned>(down(t, warp) * box_bytes + row * row_bytes);
    const unsigned b0 =
        slice +
        static_cast<unsigned>((boxes_of_a(t) + across(t, warp)) * box_bytes + thread % 32 / 8 * 16);
    float a[2][tm][4];
    float line[lines][tn];
    const auto fetch_a = [&](int buffer, int i, int chunk) {
      const float4 v = gemm::load_float4(
          a0 + static_cast<unsigned>(16 * swizzled_chunk(row, chunk) + 8 * i * row_bytes));
      a[buffer][i][0] = v.x, a[buffer][i][1] = v.y, a[buffer][i][2] = v.z, a[buffer][i][3] = v.w;
    };
    const auto fetch_b = [&](int q, unsigned chunk_address) {
#pragma unroll
      for (int g = 0; g < tn / 4; ++g) {
        const float4 v =
            gemm::load_float4(chunk_address + static_cast<unsigned>(q * row_bytes + 64 * g));
        float* const to = line[q] + 4 * g;
        to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
      }
    };
#pragma unroll
    for (int q = 0; q < ahead; ++q) fetch_b(q, b0);
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
        fetch_b((q + ahead) % lines, q + ahead < lines ? here : there);
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

}  // namespace amasia::lud
