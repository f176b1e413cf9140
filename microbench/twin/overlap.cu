// twin/overlap: the next tiles travel by cp.async while one is computed on. A block barrier per
// tile says both that the tile is there and that the one before has been read.

#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : SharedTile {
  Ring ring;
  OwnCopies<CHUNKS> own;

  __device__ explicit Mover(const Work& work)
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

  __device__ void release() {}
};

template <int CHUNKS>
__global__ void __launch_bounds__(most_threads(CHUNKS), 1)
    twin_overlap(const __grid_constant__ Work work, const __grid_constant__ CUtensorMap) {
  Mover<CHUNKS> mover(work);
  walk_tiles<CHUNKS>(work, mover);
}

}  // namespace

Way overlap_way() {
  return {Strategy::overlap,
          {twin_overlap<1>, twin_overlap<2>, twin_overlap<4>, twin_overlap<8>},
          whole_tiles,
          all_stages,
          1,
          false,
          0,
          no_objection,
          {{"LDGSTS", "cp.async", 2, false, 0, -1, true}, {"UBLKCP", "cp.async.bulk", 0, false}}};
}

}  // namespace amasia::twin
