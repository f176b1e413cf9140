// Three products of tf32 on Hopper's tensor cores, as accurate as fp32 (tf32.hpp): a slice of a
// 128 x N tile by two warpgroups, which gemm and lud have in common.
#pragma once

#include "apps/common/tf32.hpp"
#include "variants/ptx/named_barrier.cuh"
#include "variants/ptx/wgmma.cuh"

namespace amasia::matrix {

/// The turns of two warpgroups, slice by slice. Each adds its sum to another one before it goes on;
/// the other has the tensor cores meanwhile. Without turns both would be done, and add, at the same
/// time. The named barriers 1 and 2 are theirs. Not TAKEN: they do nothing, for slices that are not
/// waited for at once.
template <bool TAKEN = true>
struct WarpgroupsInTurn {
  static constexpr int threads = 256;  // who waits and who lets go
  int warpgroup;
  /// Before and behind all slices: the first turn is warpgroup 0's, and so would be the one behind
  /// the last.
  __device__ void begin() const {
    if (warpgroup == 1) let_go();
  }
  __device__ void end() const {
    if (warpgroup == 0) wait();
  }
  __device__ void wait() const {
    if (TAKEN) block::sync(1 + warpgroup, threads);
  }
  __device__ void let_go() const {
    if (TAKEN) block::arrive(2 - warpgroup, threads);
  }
};

/// A slice of 32 terms, 64 x N elements a warpgroup. The rows of both operands lie as boxes of 128
/// bytes a row, in groups of eight, hi before lo.
template <int N>
struct Tf32x3Slice {
  static constexpr int rows_a = 2 * 128, rows_b = 2 * N;  // of the parts
  static constexpr int a_bytes = rows_a * 128, b_bytes = rows_b * 128;

  static __device__ __forceinline__ void multiply_add(float (&c)[N / 2], std::uint64_t a,
                                                      std::uint64_t b, bool accumulate = true) {
    static_assert(N == 128 || N == 192);
    if constexpr (N == 192) wgmma::m64n192k8(c, a, b, accumulate);
    if constexpr (N == 128) wgmma::m64n128k8(c, a, b, accumulate);
  }

  /// sum += A B of a slice, by way of c; calls issued() when the tensor cores have all of it. The
  /// two small products come first, as little is cut off while the sum is small. The slice is read
  /// when this returns.
  template <class Issued>
  static __device__ __forceinline__ void multiply(float (&c)[N / 2], float (&sum)[N / 2],
                                                  const unsigned char* a, const unsigned char* b,
                                                  int warpgroup, Issued&& issued) {
    using namespace wgmma;
    static_assert(terms_of_tensor_sum * sizeof(float) == 128, "a slice");
    constexpr unsigned lo = rows_of_group * 128;  // bytes behind hi
    constexpr int steps = 4;                      // of eight terms, an instruction's
    const std::uint64_t left = descriptor(a + warpgroup * (a_bytes / 2), 16, 2 * lo);
    const std::uint64_t right = descriptor(b, 16, 2 * lo);
    fence();
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t x = advance(left, 32 * step), y = advance(right, 32 * step);
      multiply_add(c, advance(x, lo), y, step > 0);
      multiply_add(c, x, advance(y, lo));
    }
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      multiply_add(c, advance(left, 32 * step), advance(right, 32 * step));
    }
    commit();
    issued();
    wgmma::wait<0>();
    hold(c);
#pragma unroll
    for (int i = 0; i < N / 2; ++i) sum[i] += c[i];
  }
};

}  // namespace amasia::matrix
