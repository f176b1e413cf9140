// Rows that every thread copies its part of by cp.async: register_bypass, overlap and drop_off.
#pragma once

#include "kernel.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::softmax {

/// Who waits for the copies: the thread for its own, or the block for all.
enum class Waits { thread, block };

/// STAGES stages, of which AHEAD are in flight while a row is computed; with none, a row is waited
/// for at once. A stage is filled again when all have read the row in it: behind the reduction's
/// barrier, or at once where slots are a thread's own.
template <class S, int STAGES, int AHEAD, Waits WAITS>
struct AsyncRows {
  static_assert(AHEAD < STAGES);
  const Problem& p;
  std::int64_t next, step;  // row to be asked for
  float4* stages;
  int to = 0, from = 0;  // stages

  __device__ AsyncRows(const Problem& problem, std::int64_t first, std::int64_t rows)
      : p(problem), next(first), step(rows), stages(stages_of_block() + threadIdx.x) {}

  __device__ void ask() {
    if (next < p.in.rows) {
      const float4* const global =
          reinterpret_cast<const float4*>(p.in.data + next * p.in.pitch) + threadIdx.x;
      const unsigned shared = async::shared_address(stages + to * S::chunks * S::threads);
      const int all = p.row_chunks() - static_cast<int>(threadIdx.x);
#pragma unroll
      for (int c = 0; c < S::chunks; ++c) {
        if (c * S::threads < all) {
          async::copy16(shared + 16 * c * S::threads, global + c * S::threads);
        }
      }
    }
    async::commit();
    next += step;
    to = to + 1 == STAGES ? 0 : to + 1;
  }
  __device__ void start() {
#pragma unroll
    for (int n = 0; n < AHEAD; ++n) ask();
  }
  __device__ void bring(float4 (&v)[S::chunks]) {
    if constexpr (AHEAD == 0) ask();
    async::wait<AHEAD == 0 ? 0 : AHEAD - 1>();
    if constexpr (WAITS == Waits::block) __syncthreads();
    if constexpr (AHEAD > 0) ask();
    const float4* const stage = stages + from * S::chunks * S::threads;
    from = from + 1 == STAGES ? 0 : from + 1;
    const int all = p.row_chunks() - static_cast<int>(threadIdx.x);
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) {
      v[c] = c * S::threads < all ? stage[c * S::threads] : nothing();
    }
  }
};

}  // namespace amasia::softmax
