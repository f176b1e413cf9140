// Tiles that the threads of a block copy in the order of their bytes, each chunk to its place in
// the panels: baseline's stages, register_bypass and overlap.
#pragma once

#include "kernel.cuh"

namespace amasia::transpose {

/// A thread's chunks of a tile are S::threads apart; in the panels that is always as many whole
/// rows, a multiple of 8, so that all are swizzled alike.
template <class S, int N>
struct Copies {
  static constexpr int count = 4 * S::per_thread;
  static constexpr int rows_apart = S::threads / (N / 4);
  static_assert(rows_apart % 8 == 0);

  const Problem& p;
  std::int64_t next = 0, step = 0;  // tile to be asked for

  __device__ explicit Copies(const Problem& problem) : p(problem) {}

  /// The first of the thread's chunks in a stage, and from one to the next.
  __device__ static int first() {
    const int thread = static_cast<int>(threadIdx.x);
    return shared_chunk(thread / (N / 4), thread % (N / 4), S::template rows<N>);
  }
  static constexpr int apart = 8 * rows_apart;

  /// copy(c, from) for the chunks of the next tile that there are.
  template <class Copy>
  __device__ void each(Copy copy) {
    const std::int64_t at = next * S::tile_chunks + threadIdx.x;
    const std::int64_t left = p.count * (N * N / 4) - at;
    const float4* const from = reinterpret_cast<const float4*>(p.in) + at;
#pragma unroll
    for (int c = 0; c < count; ++c) {
      if (c * S::threads < left) copy(c, from + c * S::threads);
    }
    next += step;
  }
};

}  // namespace amasia::transpose
