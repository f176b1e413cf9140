// twin/register_bypass: cp.async past the registers, waited for at once.

#include "microbench/twin/way.hpp"

namespace amasia::twin {
namespace {

template <int CHUNKS>
struct Mover : OneTile<CHUNKS> {
  using OneTile<CHUNKS>::work, OneTile<CHUNKS>::next, OneTile<CHUNKS>::own;

  __device__ Mover(const Work& w, const CUtensorMap&) : OneTile<CHUNKS>(w) {}

  __device__ void bring() {
    __syncthreads();  // everybody has read the tile before
    copy_tile_async(work, own, stages_of_block(), next);
    async::commit();
    async::wait<0>();
    __syncthreads();
    next.advance(work.shape);
  }
};

}  // namespace

Way register_bypass_way() {
  return {Strategy::register_bypass,
          kernels_of<Mover>(),
          {at_least(1, "LDGSTS", "cp.async", false), {"UBLKCP", "cp.async.bulk", 0, false}},
          whole_tiles,
          one_stage};
}

}  // namespace amasia::twin
