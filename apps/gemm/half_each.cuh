// The mover of dsm at `iso`: each of two blocks sends half of every tile of B to the other.
#pragma once

#include "apps/gemm/own_elements.cuh"
#include "variants/geometry/pipeline_state.hpp"
#include "variants/ptx/cluster.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::gemm {
namespace {

inline constexpr int pair = 2;

/// Halves of B are sent by messages that the other block's mbarrier counts: a barrier of the
/// cluster per slice would be a fence over all of the device's memory, for each of 32 warps. The
/// other block sends slice s when it has received that of s - 1, which this one sent after a
/// barrier that all its threads reached when they had read s - 3: so three stages need no other
/// hand-shake.
struct HalfEach : SharedTiles<3> {
  using View = NoMaps;
  static View view(const Problem&) { return {}; }
  static constexpr int cluster = pair, stages = 3;
  static constexpr int shared_bytes =
      stages * (pair_bytes + static_cast<int>(sizeof(tma::Barrier)));
  static constexpr int bytes_in_flight = pair_bytes;
  static constexpr unsigned half_bytes = sizeof(float) * side_elements / pair;
  NextElements own;
  tma::Barrier* full;  // one per stage: the other block's half
  PipelineState<stages> state;

  __device__ HalfEach(unsigned char* shared, View, const Problem& p, std::int64_t row,
                      std::int64_t column, int)
      : SharedTiles<stages>{reinterpret_cast<float*>(shared)},
        own({p, row, column}),
        full(reinterpret_cast<tma::Barrier*>(shared + stages * pair_bytes)) {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) tma::init(full + stage, 1);
      tma::fence_init();
    }
    dsm::cluster_sync();  // nobody sends to a block that has not begun
  }
  __device__ void acquire(int s) {
    const bool brings_b = tile_row() / (side / pair) == static_cast<int>(dsm::rank());
    const float a = own.a.has(s) ? *own.a.next : 0.0f;
    const float b = brings_b && own.b.has(s) ? *own.b.next : 0.0f;
    a_tile(s)[threadIdx.x] = a;
    if (brings_b) {
      b_tile(s)[threadIdx.x] = b;
      const unsigned other = dsm::rank() ^ 1;
      dsm::store_async(dsm::remote_address(b_tile(s) + threadIdx.x, other), __float_as_int(b),
                       dsm::remote_address(full + state.index, other));
    }
    if (threadIdx.x == 0) tma::expect(full + state.index, half_bytes);
    own.move_on();
    __syncthreads();  // this block's parts are there; those of s - 2 are read by all its threads
    tma::wait(full + state.index, state.phase);
    ++state;
  }
  __device__ void release(int) const {}
  // Nobody sends to a block that has left: it has received all that is ever sent to it.
};

}  // namespace
}  // namespace amasia::gemm
