// Kernels that split an fp32 matrix into two of tf32 (tf32.hpp), where wgmma takes them from: with
// the terms of a sum side by side.
#pragma once

#include "apps/common/tf32.hpp"
#include "variants/device/cuda.hpp"
#include "variants/geometry/ring.hpp"
#include "variants/geometry/tile.hpp"

namespace amasia::matrix {
namespace {

inline constexpr int splitting_threads = 256;

__device__ __forceinline__ void store_parts(const Grid<float>& parts, std::int64_t row,
                                            std::int64_t column, const float (&x)[4]) {
  float4 hi, lo;
  float* const to_hi = &hi.x;
  float* const to_lo = &lo.x;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const Parts p = split(x[i]);
    to_hi[i] = p.hi;
    to_lo[i] = p.lo;
  }
  *reinterpret_cast<float4*>(&parts.at(row_of_hi(row), column)) = hi;
  *reinterpret_cast<float4*>(&parts.at(row_of_lo(row), column)) = lo;
}

/// A matrix whose rows have the terms of sums: as many columns as `parts`, a multiple of four,
/// which may reach into the padding. A block has some columns of the eight rows of a group, a warp
/// one row.
inline constexpr int columns_of_block = 512;  // four loads in flight for each thread

__global__ void __launch_bounds__(splitting_threads)
    split_rows(const Grid<const float> x, const Grid<float> parts) {
  constexpr int columns_of_warp = 128, at_once = columns_of_block / columns_of_warp;
  const auto blocks_of_group = static_cast<unsigned>(ceil_div(parts.columns, columns_of_block));
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t row = std::int64_t{blockIdx.x / blocks_of_group} * rows_of_group + thread / 32;
  const std::int64_t first =
      std::int64_t{blockIdx.x % blocks_of_group} * columns_of_block + thread % 32 * 4;
  float v[at_once][4] = {};  // rows that fill up a group are zero
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    const std::int64_t column = first + columns_of_warp * i;
    if (row < x.rows && column < parts.columns) {
      const float4 four = *reinterpret_cast<const float4*>(&x.at(row, column));
      v[i][0] = four.x, v[i][1] = four.y, v[i][2] = four.z, v[i][3] = four.w;
    }
  }
#pragma unroll
  for (int i = 0; i < at_once; ++i) {
    const std::int64_t column = first + columns_of_warp * i;
    if (column < parts.columns) store_parts(parts, row, column, v[i]);
  }
}

/// A matrix whose columns are the terms of sums: its columns become rows, through a square of
/// shared memory with one word more a row, so that rows and columns of it lie in different banks.
inline constexpr int split_side = 64;

__global__ void __launch_bounds__(splitting_threads)
    split_transposed(const Grid<const float> x, const Grid<float> parts) {
  __shared__ float square[split_side][split_side + 1];
  constexpr int fours = split_side / 4, step = splitting_threads / fours;
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first_row = std::int64_t{blockIdx.x} * split_side;
  const std::int64_t first_column = std::int64_t{blockIdx.y} * split_side;
  const int along = thread % fours * 4;
#pragma unroll
  for (int i = 0; i < split_side; i += step) {
    const int row = thread / fours + i;
    float4 four{};
    if (first_row + row < x.rows && first_column + along < x.columns) {
      four = *reinterpret_cast<const float4*>(&x.at(first_row + row, first_column + along));
    }
    float* const to = &square[row][along];
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < split_side; i += step) {
    const int column = thread / fours + i;
    if (row_of_lo(first_column + column) >= parts.rows || first_row + along >= parts.columns) {
      continue;
    }
    float v[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) v[j] = square[along + j][column];
    store_parts(parts, first_column + column, first_row + along, v);
  }
}

/// The launch that fills the columns of `parts` from `x`, or from its transpose; what is beyond the
/// rows of `x` with zeros.
inline void launch_split(const Grid<const float>& x, const Grid<float>& parts, bool transposed,
                         Stream stream) {
  const std::int64_t rows = parts.rows / 2;
  if (transposed) {
    const dim3 grid(static_cast<unsigned>(ceil_div(parts.columns, split_side)),
                    static_cast<unsigned>(ceil_div(rows, split_side)));
    split_transposed<<<grid, splitting_threads, 0, stream>>>(x, parts);
  } else {
    const auto blocks = rows / rows_of_group * ceil_div(parts.columns, columns_of_block);
    split_rows<<<static_cast<unsigned>(blocks), splitting_threads, 0, stream>>>(x, parts);
  }
  AMASIA_CUDA(cudaGetLastError());
}

}  // namespace
}  // namespace amasia::matrix
