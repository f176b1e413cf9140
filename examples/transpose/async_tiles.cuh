// Tiles that come by cp.async, each chunk by the thread whose turn it is: register_bypass, overlap.
#pragma once

#include "kernel.cuh"
#include "tiles.cuh"
#include "variants/ptx/cp_async.cuh"

namespace amasia::transpose {

/// STAGES stages, of which AHEAD are in flight while a tile is turned. With two stages and none
/// ahead a tile is waited for at once, and needs no second barrier behind its reads.
template <class S, int N, int STAGES, int AHEAD>
struct AsyncTiles : TileInShared<S, N> {
  static_assert(AHEAD < STAGES);
  using Arguments = Plain;
  Copies<S, N> copies;
  float4* stages;
  int to = 0, from = 0;  // stages

  __device__ explicit AsyncTiles(const Arguments& a)
      : copies(a.problem), stages(stages_of_block<S>()) {}

  __device__ void ask() {
    const unsigned shared = async::shared_address(stages + to * S::tile_chunks + copies.first());
    copies.each([&](int c, const float4* global) {
      async::copy16(shared + 16 * c * copies.apart, global);
    });
    async::commit();
    to = to + 1 == STAGES ? 0 : to + 1;
  }
  __device__ void start(std::int64_t first, std::int64_t tiles) {
    copies.next = first;
    copies.step = tiles;
#pragma unroll
    for (int n = 0; n < AHEAD; ++n) ask();
  }
  __device__ void bring() {
    if constexpr (AHEAD == 0) ask();
    async::wait<AHEAD == 0 ? 0 : AHEAD - 1>();
    __syncthreads();  // this tile is there, and all have read the one before
    if constexpr (AHEAD > 0) ask();
    this->tile = stages + from * S::tile_chunks;
    from = from + 1 == STAGES ? 0 : from + 1;
  }
  __device__ void done() const {}
};

}  // namespace amasia::transpose
