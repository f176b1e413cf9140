// Tiles that every thread copies its part of by cp.async: register_bypass and overlap.
#pragma once

#include "kernel.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::convolution_1d {

/// STAGES stages, of which AHEAD are in flight while a tile is computed. With two stages and none
/// ahead a tile is waited for at once, and needs no second barrier behind its reads.
template <class S, int STAGES, int AHEAD>
struct AsyncTiles : TileInShared<S> {
  static_assert(AHEAD < STAGES);
  const Problem& p;
  TileWalk next;  // to be asked for
  float4* stages;
  int to = 0, from = 0;  // stages

  __device__ AsyncTiles(const Problem& problem, const TileWalk& walk)
      : p(problem), next(walk), stages(stages_of_block<S>()) {}

  __device__ void ask() {
    if (next.row < p.in.rows) {
      const float4* const global = source<S>(p, next);
      const unsigned shared = async::shared_address(stages + to * S::stage_chunks + threadIdx.x);
#pragma unroll
      for (int c = 0; c <= S::chunks; ++c) {  // the last round is that of the margins
        if (c < S::chunks || threadIdx.x < 2 * S::margin_chunks) {
          async::copy16(shared + 16 * c * S::threads, global + c * S::threads + threadIdx.x);
        }
      }
    }
    async::commit();
    ++next;
    to = to + 1 == STAGES ? 0 : to + 1;
  }
  __device__ void start() {
#pragma unroll
    for (int n = 0; n < AHEAD; ++n) ask();
  }
  __device__ const float4* bring() {
    if constexpr (AHEAD == 0) ask();
    async::wait<AHEAD == 0 ? 0 : AHEAD - 1>();
    __syncthreads();  // this tile is there, and all have read the one before
    if constexpr (AHEAD > 0) ask();
    this->tile = stages + from * S::stage_chunks;
    from = from + 1 == STAGES ? 0 : from + 1;
    return this->tile;
  }
  __device__ void done() const {}
};

}  // namespace amasia::convolution_1d
