// Rows that one thread per block asks the copy engine for: tma and dsm.
#pragma once

#include "kernel.cuh"
#include "variants/geometry/ring.hpp"
#include "variants/ptx/bulk.cuh"

namespace amasia::softmax {

/// STAGES stages with an mbarrier each. A block of a cluster of CLUSTER has every CLUSTER-th run of
/// THREADS chunks of a row; a block by itself has all, which are one copy.
template <class S, int STAGES, int CLUSTER = 1>
struct BulkRows {
  static constexpr int threads = S::threads / CLUSTER;
  static constexpr int stage_chunks = S::chunks * threads;

  const Problem& p;
  std::int64_t next, step;  // row to be asked for
  int first_chunk;          // of the block's first run
  float4* stages;
  tma::Barrier* full;  // (STAGES), behind the stages
  PipelineState<STAGES> to, from;

  __device__ BulkRows(const Problem& problem, std::int64_t first, std::int64_t rows, int rank = 0)
      : p(problem),
        next(first),
        step(rows),
        first_chunk(rank * threads),
        stages(stages_of_block()),
        full(reinterpret_cast<tma::Barrier*>(stages + STAGES * stage_chunks)) {}

  /// Chunks of run c that the row has.
  __device__ int run(int c) const {
    const int left = p.row_chunks() - first_chunk - c * S::threads;
    return left < 0 ? 0 : left < threads ? left : threads;
  }
  __device__ void ask() {
    if (threadIdx.x == 0 && next < p.in.rows) {
      const auto* const row = reinterpret_cast<const float4*>(p.in.data + next * p.in.pitch);
      float4* const stage = stages + to.index * stage_chunks;
      tma::Barrier* const barrier = full + to.index;
      if constexpr (CLUSTER == 1) {
        const unsigned bytes = 16U * static_cast<unsigned>(p.row_chunks());
        tma::expect(barrier, bytes);
        tma::load_bytes(stage, row, bytes, barrier);
      } else {
        int all = 0;
        for (int c = 0; c < S::chunks; ++c) all += run(c);
        tma::expect(barrier, 16U * static_cast<unsigned>(all));
        for (int c = 0; c < S::chunks && run(c) > 0; ++c) {
          tma::load_bytes(stage + c * threads, row + first_chunk + c * S::threads,
                          16U * static_cast<unsigned>(run(c)), barrier);
        }
      }
    }
    next += step;
    ++to;
  }
  /// A barrier of the block, or of the cluster, follows.
  __device__ void initialise() const {
    if (threadIdx.x == 0) {
      for (int s = 0; s < STAGES; ++s) tma::init(full + s, 1);
      tma::fence_init();
    }
  }
  __device__ void start() {
    if constexpr (CLUSTER == 1) {
      initialise();
      __syncthreads();
    }
#pragma unroll
    for (int n = 0; n < STAGES - 1; ++n) ask();
  }
  /// The stage of the row before is free: its reduction's barrier came when all had it in
  /// registers.
  __device__ void bring(float4 (&v)[S::chunks]) {
    ask();
    tma::wait(full + from.index, from.phase);
    const float4* const stage = stages + from.index * stage_chunks;
    ++from;
#pragma unroll
    for (int c = 0; c < S::chunks; ++c) {
      const int t = static_cast<int>(threadIdx.x);
      v[c] = t < run(c) ? stage[c * threads + t] : nothing();
    }
  }
};

template <class S, int STAGES, int CLUSTER = 1>
constexpr std::size_t bulk_bytes = STAGES*(stage_bytes<S> / CLUSTER + sizeof(tma::Barrier));

}  // namespace amasia::softmax
