// twin/tma: one thread (for rows that lie apart, the lanes of one warp) asks the copy engine for
// whole tiles; an mbarrier counts their bytes. A contiguous tile is one bulk copy, a box one tensor
// copy where its rows are short enough for a tensor map, gathered rows are a bulk copy each.

#include "microbench/twin/bulk_ring.cuh"
#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : SharedTile {
  BulkRing ring;

  __device__ Mover(const Work& work, const CUtensorMap& map) : ring(work, map) {}

  __device__ void ask(int index) {
    if (threadIdx.x >= 32 || !ring.has_next()) return;
    const Shape& s = ring.work.shape;
    if (threadIdx.x == 0) {
      tma::expect(ring.full + index, 16U * static_cast<unsigned>(s.chunks()));
      if (s.common > 0) {
        tma::load_bytes(ring.stage(index), ring.work.in + ring.next.common_at,
                        16U * static_cast<unsigned>(s.common * s.row_chunks), ring.full + index);
      }
    }
    __syncwarp();
    ring.copy_own_rows(index, 0, s.rows - s.common);
    ring.asked();
  }
  __device__ void start() {
    if (threadIdx.x == 0) ring.initialise();
    __syncthreads();
#pragma unroll 1
    for (int s = 0; s < ring.work.stages - 1; ++s) ask(s);
  }
  __device__ void bring() {
    ring.wait();
    __syncthreads();  // everybody has read the tile before
    ask(ring.last);
    tile = ring.stage(ring.current);
    ring.advance();
  }

  /// The copy engine does not queue behind loads from shared memory that are still on their way.
  __device__ void release() const { tma::fence_async_proxy(); }
};

}  // namespace

Way tma_way() {
  return {Strategy::tma,
          kernels_of<Mover>(),
          {at_least(1, "UBLKCP", "cp.async.bulk", false),
           at_least(1, "UTMALDG", "cp.async.bulk.tensor", false),
           {"LDGSTS", "cp.async", 0, false}},
          whole_tiles,
          all_stages,
          1,
          true,
          barrier_bytes};
}

}  // namespace amasia::twin
