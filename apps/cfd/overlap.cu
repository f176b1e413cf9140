// cfd/overlap: cp.async into a ring, the oldest stage is waited for (Svedin et al. 2021, algorithm
// 2). At iso a stage is one face of all elements, at records-walk a tile.
#include "apps/cfd/iso.cuh"
#include "apps/cfd/resident.cuh"

namespace amasia::cfd {
namespace {

struct OverlapIso : PlanesMover {
  static constexpr int stages = faces;
  static constexpr bool block_waits = true;
  __device__ OverlapIso(const IsoView& view, FacePlanes& p) : PlanesMover(view, p) {
#pragma unroll
    for (int f = 0; f < faces; ++f) {
      copy(f);
      async::commit();
    }
  }
  /// The faces behind face f, one group each, stay in flight.
  __device__ void wait(int f) {
    static_assert(faces == 4);
    if (f == 0) async::wait<3>();
    if (f == 1) async::wait<2>();
    if (f == 2) async::wait<1>();
    if (f == 3) async::wait<0>();
    __syncthreads();
  }
};

const bool overlap_registered = register_variant<Problem>(
    "cfd", Strategy::overlap,
    {iso<OverlapIso>(), resident_config<AheadMover<false>>(), walk_config<CopiedTileMover<2>>(true),
     walk_config<CopiedTileMover<2>>(false)});

}  // namespace
}  // namespace amasia::cfd
