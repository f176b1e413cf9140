// A ring of stages that bulk copies fill, with an mbarrier each: what tma and dsm share.
#pragma once

#include "microbench/twin/movers.cuh"
#include "variants/ptx/bulk.cuh"
#include "variants/ptx/mbarrier.cuh"

namespace amasia::twin {

constexpr int most_stages = 4;
constexpr std::size_t barrier_bytes = most_stages * sizeof(tma::Barrier);

struct BulkRing : Ring {
  const CUtensorMap& map;
  tma::Barrier* full;  // (stages), behind the stages
  unsigned phase = 0;  // of the barrier of the current stage

  __device__ BulkRing(const Work& w, const CUtensorMap& m)
      : Ring(w, tile_stage_chunks(w.shape)),
        map(m),
        full(reinterpret_cast<tma::Barrier*>(stages + w.stages * stage_chunks)) {}

  /// One thread, before any use; a barrier of block or cluster has to follow.
  __device__ void initialise() const {
    for (int s = 0; s < work.stages; ++s) tma::init(full + s, 1);
    tma::fence_init();
  }
  __device__ void wait() const { tma::wait(full + current, phase); }
  __device__ void advance() {
    Ring::advance();
    if (current == 0) phase ^= 1U;
  }

  /// Warp 0: copies own rows [begin, end) of the next tile to their places in the stage; all of a
  /// box when it is fetched by tensor map. Announced on the barrier before.
  __device__ void copy_own_rows(int index, int begin, int end) const {
    const Shape& s = work.shape;
    const int lane = static_cast<int>(threadIdx.x);
    float4* const to = stage(index) + (s.common + begin) * s.row_chunks;
    if (s.layout == Layout::run) {
      if (lane == 0) {
        tma::load_bytes(to, work.in + next.own_at + begin * s.pitch,
                        16U * static_cast<unsigned>((end - begin) * s.row_chunks), full + index);
      }
    } else if (work.boxes != 0) {
      if (lane == 0) {
        tma::load_tile(to, &map, next.column * s.inner_chunks * 4,
                       static_cast<int>(next.own_row) + begin, full + index);
      }
    } else {
#pragma unroll 1
      for (int row = begin + lane; row < end; row += 32) {
        tma::load_bytes(to + (row - begin) * s.row_chunks,
                        work.in + next.own_row_at(s, row, work.numbers),
                        16U * static_cast<unsigned>(s.row_chunks), full + index);
      }
    }
  }
};

}  // namespace amasia::twin
