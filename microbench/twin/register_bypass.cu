// twin/register_bypass: cp.async past the registers, waited for at once.

#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : SharedTile {
  const Work& work;
  TileCursor next;
  OwnCopies<CHUNKS> own;

  __device__ explicit Mover(const Work& w)
      : SharedTile{stages_of_block()}, work(w), next(w.shape, walk_of_block(w)), own(w.shape) {}
  __device__ void start() {}

  __device__ void bring() {
    __syncthreads();  // everybody has read the tile before
    copy_tile_async(work, own, stages_of_block(), next);
    async::commit();
    async::wait<0>();
    __syncthreads();
    next.advance(work.shape);
  }

  __device__ void release() {}
};

template <int CHUNKS>
__global__ void __launch_bounds__(most_threads(CHUNKS), 1)
    twin_register_bypass(const __grid_constant__ Work work, const __grid_constant__ CUtensorMap) {
  Mover<CHUNKS> mover(work);
  walk_tiles<CHUNKS>(work, mover);
}

}  // namespace

Way register_bypass_way() {
  return {Strategy::register_bypass,
          {twin_register_bypass<1>, twin_register_bypass<2>, twin_register_bypass<4>,
           twin_register_bypass<8>},
          whole_tiles,
          one_stage,
          1,
          false,
          0,
          no_objection,
          {{"LDGSTS", "cp.async", 1, false, 0, -1, true}, {"UBLKCP", "cp.async.bulk", 0, false}}};
}

}  // namespace amasia::twin
