// twin/overlap: the next tiles travel by cp.async while one is computed on. A block barrier per
// tile says both that the tile is there and that the one before has been read.

#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : SharedTile {
  Ring ring;
  OwnCopies<CHUNKS> own;

  __device__ Mover(const Work& work, const CUtensorMap&)
      : ring(work, tile_stage_chunks(work.shape)), own(work.shape) {}

  __device__ void ask(int stage) {
    if (ring.has_next()) {
      copy_tile_async(ring.work, own, ring.stage(stage), ring.next);
      ring.asked();
    }
    async::commit();
  }
  __device__ void start() {
#pragma unroll 1
    for (int s = 0; s < ring.work.stages - 1; ++s) ask(s);
  }
  __device__ void bring() {
    wait_for_oldest(ring.work.stages);
    __syncthreads();
    ask(ring.last);
    tile = ring.stage(ring.current);
    ring.advance();
  }
};

}  // namespace

Way overlap_way() {
  return {Strategy::overlap,
          kernels_of<Mover>(),
          {at_least(2, "LDGSTS", "cp.async", false), {"UBLKCP", "cp.async.bulk", 0, false}}};
}

}  // namespace amasia::twin
